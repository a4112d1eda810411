// Binary search.

/** The first index whose element is past something, or the length. If one is past it, so are all later ones. */
export function firstIndexWhere<Element>(elements: readonly Element[], isPast: (element: Element) => boolean): number {
  let [low, high] = [0, elements.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const element = elements[middle];
    if (element !== undefined && isPast(element)) high = middle;
    else low = middle + 1;
  }
  return low;
}
