// A real task with more than ten thousand events, by a scripted model.
export async function longTask(sidecar, events = 10_000) {
  // Each round reads other lines, because an agent that repeats itself is stopped.
  const calls = (round) =>
    Array.from({ length: 20 }, (_, place) => ({ tool: "read_file", args: { path: `file${place}.txt`, startLine: round + 1, endLine: round + 1 } }));
  for (let place = 0; place < 20; place += 1) await sidecar.write(`file${place}.txt`, Array.from({ length: 400 }, (_, line) => `file ${place}, line ${line}\n`).join(""));
  const rounds = Math.ceil(events / 41);
  const replies = Array.from({ length: rounds }, (_, place) => ({ text: `Round ${place}: twenty files, once more.`, calls: calls(place) }));
  const models = await sidecar.script("long", [...replies, { text: "That was all." }]);
  const options = { models, intent: "edit_code", agentType: "coder", maxIterations: rounds + 1 };
  const id = await sidecar.execute("read the same files again and again", options);
  for (;;) {
    const task = await sidecar.task(id);
    if (task.status === "completed") return task;
    if (task.status === "failed") throw new Error(JSON.stringify(task.error));
    await new Promise((done) => setTimeout(done, 200));
  }
}
