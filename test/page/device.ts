// What a device may do to a page that keeps edits on it. Each text is a script that runs in the page.

/** In the page: from now on, what the page keeps on the device waits until `releaseDevice()` is called. */
export const holdDevice = `(async () => {
  const [{ name }] = await indexedDB.databases();
  const database = await new Promise((resolve) => {
    const request = indexedDB.open(name);
    request.onsuccess = () => resolve(request.result);
  });
  const values = database.transaction("values", "readwrite").objectStore("values");
  let isHeld = true;
  const hold = () => {
    if (isHeld) values.get("none").onsuccess = hold;
  };
  hold();
  globalThis.releaseDevice = () => void (isHeld = false);
})()`;

/** From now on, the device refuses to keep edits with this text, until `accept()` is called. */
export const refuse = (text: string) => `void (() => {
  const { put } = IDBObjectStore.prototype;
  globalThis.accept = () => void Object.assign(IDBObjectStore.prototype, { put });
  IDBObjectStore.prototype.put = function (value, key) {
    if (value.includes(${JSON.stringify(text)})) throw new DOMException("Full.", "QuotaExceededError");
    return put.call(this, value, key);
  };
})()`;
