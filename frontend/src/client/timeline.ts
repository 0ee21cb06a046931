/** The task was rewound to event `to`; event `at` recorded it. */
export interface Rewind {
  readonly to: number;
  readonly at: number;
}

type Span = readonly [after: number, upTo: number];

/** The events that still count: those up to the rewind's target, as they counted then, and those from the rewind on. */
function spans(rewinds: readonly Rewind[]): readonly Span[] {
  const last = rewinds.at(-1);
  if (last === undefined) return [[0, Number.POSITIVE_INFINITY]];
  // A rewind to before other rewinds undoes them.
  const then = spans(rewinds.filter((one) => one !== last && one.at <= last.to));
  const kept = then.filter(([after]) => after < last.to).map(([after, upTo]): Span => [after, Math.min(upTo, last.to)]);
  return [...kept, [last.at - 1, Number.POSITIVE_INFINITY]];
}

/** Returns a predicate: does an event still count after these rewinds? */
export function notRewound(rewinds: readonly Rewind[]): (seq: number) => boolean {
  if (rewinds.length === 0) return () => true;
  const counted = spans(rewinds);
  return (seq) => counted.some(([after, upTo]) => seq > after && seq <= upTo);
}
