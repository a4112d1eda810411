// Uses the service class as the tutorial's app does, and prints what happens.

using System;
using System.Linq;
using System.Threading.Tasks;

static class Program
{
    // Not `async Task Main`, because Mono's compiler does not know it.
    static void Main()
    {
        RunAsync().GetAwaiter().GetResult();
    }

    static async Task RunAsync()
    {
        RestService.Address = Environment.GetEnvironmentVariable("TODOITEMS_SERVER") ?? RestService.Address;
        if (!RestService.Address.EndsWith("/")) RestService.Address += "/";
        var service = new RestService();

        var item = new TodoItem { Name = "Buy milk", Notes = "2 litres" };
        await service.SaveTodoItemAsync(item, true);
        Console.WriteLine("Created: " + item.ETag);
        var firstETag = item.ETag;

        var items = await service.RefreshDataAsync();
        Console.WriteLine("List: " + string.Join(", ", items.Select(each => each.Name)));

        item.Done = true;
        await service.SaveTodoItemAsync(item, false);
        Console.WriteLine("Updated: " + item.ETag);

        try
        {
            var old = new TodoItem { ID = item.ID, Name = "Buy oat milk", ETag = firstETag };
            await service.SaveTodoItemAsync(old, false);
        }
        catch (RefusedException refused)
        {
            Console.WriteLine("Update with an old ETag: " + refused.Status + " " + refused.Code
                + ", the item is now done: " + refused.Current.Done + ", " + refused.Current.ETag);
        }

        try
        {
            await service.SaveTodoItemAsync(item, true);
        }
        catch (RefusedException refused)
        {
            Console.WriteLine("Create the same ID: " + refused.Status + " " + refused.Code);
        }

        await service.RefreshDataAsync();
        await service.DeleteTodoItemAsync(item.ID);
        Console.WriteLine("Deleted: " + (await service.RefreshDataAsync()).Count + " items are left");
    }
}
