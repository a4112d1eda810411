// Binary search: finds a place in a sorted array without looking at every element.

/**
 * The index of the first element for which `isPast` is true, or the length if there is none. Once `isPast` is true
 * for one element, it must be true for all later ones.
 */
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
