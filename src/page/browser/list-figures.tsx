// The figures of the list, such as its size and version. A gauge compares the size with the longest list that the app
// of the Xamarin.Forms tutorial can read.

import type { FollowedList } from "../followed-list.ts";

/** The app of the Xamarin.Forms tutorial reads at most this many bytes of a response. */
const markBytes = 256_000;

export function ListFigures({ list }: { list: FollowedList }) {
  const { readOnly, loaded, stored, version } = list;
  const { count, listBytes } = stored;
  return (
    <p class="figures">
      <span data-figure="mode">{readOnly ? "Read-only" : "Writable"}</span>
      {loaded && <span data-figure="items">{count === 1 ? "1 item" : `${count.toLocaleString("en")} items`}</span>}
      <span data-figure="version">Version {version ?? "unknown"}</span>
      {loaded && (
        <span class="size" data-figure="bytes">
          {listBytes.toLocaleString("en")} bytes
          <Gauge bytes={listBytes} />
        </span>
      )}
      <span class={listBytes > markBytes ? "over" : ""}>
        {listBytes > markBytes
          ? "Over 256,000 bytes: the app of the Xamarin.Forms tutorial cannot read this list, unless you raise its MaxResponseContentBufferSize. Other clients can."
          : "The app of the Xamarin.Forms tutorial reads at most 256,000 bytes. Other clients have no such limit."}
      </span>
    </p>
  );
}

function Gauge({ bytes }: { bytes: number }) {
  // The number of bytes that the whole gauge stands for. Normally, the mark is at four fifths of the gauge. If the list
  // would fill more than about 95 % of the gauge, this number grows with the list, and the mark moves to the left.
  const full = Math.max(markBytes * 1.25, bytes * 1.05);
  return (
    <span class="gauge" aria-hidden="true" data-over={bytes > markBytes}>
      <span class="level" style={{ width: `${(bytes / full) * 100}%` }} />
      <span class="limit" style={{ left: `${(markBytes / full) * 100}%` }} />
    </span>
  );
}
