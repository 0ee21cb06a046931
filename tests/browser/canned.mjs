// A task's stream that the story writes itself, event by event, for what no real task does often enough.
export async function cannedStream(page) {
  await page.addInitScript(() => {
    const real = window.fetch;
    const encoder = new TextEncoder();
    let seq = 0;
    let controller;
    const waiting = [];
    window.emit = (...events) => {
      for (const event of events) {
        const live = event.type === "delta" || event.type === "tool_output";
        const whole = { taskId: "t", at: new Date().toISOString(), ...event, ...(live ? {} : { seq: (seq += 1) }) };
        const text = encoder.encode(`${live ? "" : `id: ${whole.seq}\n`}data: ${JSON.stringify(whole)}\n\n`);
        if (controller) controller.enqueue(text);
        else waiting.push(text);
      }
    };
    window.fetch = (input, init) => {
      if (!/\/tasks\/[^/]+\/stream$/.test(String(input))) return real(input, init);
      const body = new ReadableStream({
        start(opened) {
          controller = opened;
          for (const text of waiting.splice(0)) opened.enqueue(text);
        },
      });
      return Promise.resolve(new Response(body, { headers: { "content-type": "text/event-stream" } }));
    };
  });
  return { emit: (...events) => page.evaluate((all) => window.emit(...all), events) };
}
