// A round trip with the C# client that NSwag has generated. The first argument is the address of a service without items.

using System;
using System.Linq;
using System.Net.Http;
using Generated;

static class RoundTrip
{
    static void Main(string[] args)
    {
        var http = new HttpClient { BaseAddress = new Uri(args[0]) };
        var client = new TodoClient(http) { BaseUrl = args[0] };

        // The generated class leaves null fields out when it writes, so this item is sent as text.
        var text = "{\"ID\":\"11111111-1111-4111-8111-111111111111\",\"Name\":null,\"Tags\":[\"a\",{\"b\":1}]}";
        var content = new StringContent(text, System.Text.Encoding.UTF8, "application/json");
        Expect((int)http.PostAsync("/api/todoitems", content).Result.StatusCode == 201, "create an item with a null name");
        var second = client.CreateItemAsync(new NewTodoItem { Name = "Buy milk", Done = false }).Result;
        Expect(second.ID != Guid.Empty, "the service makes an ID");

        var list = client.ListItemsAsync().Result.ToList();
        Expect(list.Count == 2 && list[0].Name == null && list[1].Name == "Buy milk", "list an item with a null name");
        Expect(list[0].AdditionalProperties.ContainsKey("Tags"), "other fields are kept");

        second.Done = true;
        var body = new NewTodoItem { ID = second.ID, Name = second.Name, Done = true };
        client.UpdateItemAtAsync(second.ID, body).Wait();
        Expect(client.ReadItemAsync(second.ID).Result.Done == true, "read what was updated");
        var conflict = Refused(() => client.UpdateItemAtAsync(second.ID, body, "\"stale\"").Wait());
        var failed = ((ApiException<PreconditionFailedProblem>)conflict).Result;
        Expect(failed.Current.ID == second.ID, "a 412 has the current item");

        var delta = client.ReadChangesAsync().Result;
        Expect(delta.Whole && delta.Changes.Count == 2, "read all changes");
        client.DeleteItemAsync(second.ID).Wait();
        var after = client.ReadChangesAsync(delta.Epoch + "-" + delta.Version).Result;
        Expect(after.Changes.Single().Item == null, "a deleted item is null in the changes");
        var gone = (ApiException<Problem>)Refused(() => client.ReadItemAsync(second.ID).Wait());
        Expect(gone.StatusCode == 404 && gone.Result.Code == ProblemCode.RecordNotFound, "a deleted item is gone");
    }

    static ApiException Refused(Action action)
    {
        try { action(); }
        catch (AggregateException error) { return (ApiException)error.InnerException; }
        throw new Exception("the request was not refused");
    }

    static void Expect(bool holds, string what)
    {
        if (!holds) throw new Exception("failed: " + what);
    }
}
