// The service class for the app of the "consume a REST web service" tutorial. Put this file in place of the tutorial's
// RestService.cs, IRestService.cs and TodoItem.cs, and set `Address`: http://localhost:5000/ on this machine,
// http://10.0.2.2:5000/ in the Android emulator. It keeps the ETag of each item, so that an app never overwrites what
// somebody else has changed meanwhile.

using System;
using System.Collections.Generic;
using System.IO;
using System.Net.Http;
using System.Runtime.Serialization;
using System.Runtime.Serialization.Json;
using System.Text;
using System.Threading.Tasks;

// An item, as the tutorial's app has it. Fields that this class does not name are lost when an item is saved, because an
// update replaces the whole item. Add a property for each field that your items have.
[DataContract]
public class TodoItem
{
    [DataMember(Order = 1)]
    public string ID { get; set; }

    [DataMember(Order = 2)]
    public string Name { get; set; }

    [DataMember(Order = 3)]
    public string Notes { get; set; }

    [DataMember(Order = 4)]
    public bool Done { get; set; }

    // The state of the item that the service last showed us. It is sent as If-Match, and is not part of the item.
    public string ETag { get; set; }
}

public interface IRestService
{
    Task<List<TodoItem>> RefreshDataAsync();
    Task SaveTodoItemAsync(TodoItem item, bool isNewItem);
    Task DeleteTodoItemAsync(string id);
}

// The service refused a request. Code is a stable word for programs, such as PreconditionFailed.
public class RefusedException : Exception
{
    public int Status { get; }
    public string Code { get; }

    // Only with status 412: the item as it is now.
    public TodoItem Current { get; }

    public RefusedException(int status, string code, string detail, TodoItem current) : base(detail)
    {
        Status = status;
        Code = code;
        Current = current;
    }
}

public class RestService : IRestService
{
    public static string Address = "http://localhost:5000/";

    readonly HttpClient client = new HttpClient();

    public List<TodoItem> Items { get; private set; } = new List<TodoItem>();

    // The changes document without a token contains every item together with its ETag. The list has no ETags.
    public async Task<List<TodoItem>> RefreshDataAsync()
    {
        var response = await SendAsync(HttpMethod.Get, "changes/delta");
        var items = new List<TodoItem>();
        foreach (var change in (await ReadAsync<Delta>(response)).Changes)
        {
            change.Item.ETag = change.ETag;
            items.Add(change.Item);
        }
        return Items = items;
    }

    public async Task SaveTodoItemAsync(TodoItem item, bool isNewItem)
    {
        // With an ID of our own it is safe to send a create again if its response was lost: the second one returns 409.
        if (string.IsNullOrEmpty(item.ID)) item.ID = Guid.NewGuid().ToString();
        var response = isNewItem
            ? await SendAsync(HttpMethod.Post, "api/todoitems/", item)
            : await SendAsync(HttpMethod.Put, "api/todoitems/", item, item.ETag);
        item.ETag = response.Headers.ETag?.ToString();
    }

    public async Task DeleteTodoItemAsync(string id)
    {
        await SendAsync(HttpMethod.Delete, "api/todoitems/" + id, null, Items.Find(item => item.ID == id)?.ETag);
    }

    async Task<HttpResponseMessage> SendAsync(HttpMethod method, string path, TodoItem item = null, string etag = null)
    {
        var request = new HttpRequestMessage(method, Address + path);
        // If the service needs credentials: request.Headers.Authorization = new AuthenticationHeaderValue("Basic", …)
        if (item != null) request.Content = new StringContent(Write(item), Encoding.UTF8, "application/json");
        if (etag != null) request.Headers.TryAddWithoutValidation("If-Match", etag);
        var response = await client.SendAsync(request);
        if (response.IsSuccessStatusCode) return response;
        var problem = await ReadAsync<Problem>(response);
        if (problem.Current != null) problem.Current.ETag = response.Headers.ETag?.ToString();
        throw new RefusedException((int)response.StatusCode, problem.Code, problem.Detail, problem.Current);
    }

    static string Write(TodoItem item)
    {
        using (var stream = new MemoryStream())
        {
            new DataContractJsonSerializer(typeof(TodoItem)).WriteObject(stream, item);
            return Encoding.UTF8.GetString(stream.ToArray());
        }
    }

    static async Task<T> ReadAsync<T>(HttpResponseMessage response)
    {
        using (var stream = await response.Content.ReadAsStreamAsync())
            return (T)new DataContractJsonSerializer(typeof(T)).ReadObject(stream);
    }

    [DataContract]
    class Delta
    {
        [DataMember(Name = "changes")]
        public List<Change> Changes { get; set; }
    }

    [DataContract]
    class Change
    {
        [DataMember(Name = "etag")]
        public string ETag { get; set; }

        [DataMember(Name = "item")]
        public TodoItem Item { get; set; }
    }

    [DataContract]
    class Problem
    {
        [DataMember(Name = "code")]
        public string Code { get; set; }

        [DataMember(Name = "detail")]
        public string Detail { get; set; }

        [DataMember(Name = "current")]
        public TodoItem Current { get; set; }
    }
}
