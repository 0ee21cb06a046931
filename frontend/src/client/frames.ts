/** Runs `act` in the next animation frame; soon where there are no frames (a hidden tab, Node.js). Returns a cancel. */
export function nextFrame(act: () => void): () => void {
  const hasFrames = typeof requestAnimationFrame === "function";
  const timer = setTimeout(run, hasFrames ? 200 : 0);
  const frame = hasFrames ? requestAnimationFrame(run) : 0;
  function cancel() {
    clearTimeout(timer);
    if (hasFrames) cancelAnimationFrame(frame);
  }
  function run() {
    cancel();
    act();
  }
  return cancel;
}
