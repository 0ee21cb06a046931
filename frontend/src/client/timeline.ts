/** A task was taken back to event `to`; event `at` told so. */
export interface Rewind {
  readonly to: number;
  readonly at: number;
}

type Span = readonly [after: number, upTo: number];

/** What still counts: up to the event that was gone back to, as it counted then, and from the word that told so on. */
function spans(rewinds: readonly Rewind[]): readonly Span[] {
  const last = rewinds.at(-1);
  if (last === undefined) return [[0, Number.POSITIVE_INFINITY]];
  // A rewind may go back to before other rewinds, and so undo them.
  const then = spans(rewinds.filter((one) => one !== last && one.at <= last.to));
  const kept = then.filter(([after]) => after < last.to).map(([after, upTo]): Span => [after, Math.min(upTo, last.to)]);
  return [...kept, [last.at - 1, Number.POSITIVE_INFINITY]];
}

/** Says of an event whether it still counts. */
export function counting(rewinds: readonly Rewind[]): (seq: number) => boolean {
  if (rewinds.length === 0) return () => true;
  const counted = spans(rewinds);
  return (seq) => counted.some(([after, upTo]) => seq > after && seq <= upTo);
}
