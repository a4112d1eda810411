// An item, as the tutorial's app has it. Fields that this class does not name are lost when an item is saved, because an
// update replaces the whole item. Add a property for each field that your items have.

using System.Runtime.Serialization;

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
