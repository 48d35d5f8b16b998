// The script that both generations of the TypeScript SDK run; what differs between them is handed in.
//
// One JSON line on standard output for each step, with what the SDK made of the server's answer. What the answers
// should be is the test's business.

// What one generation hands in: how a client connects in a mode to a server's command line, or to its address; how it
// calls a tool and hears a notification, and the revision that was agreed on.
exports.main = async ({ connect, call, hear, revision }) => {
  const [mode, , command, ...args] = process.argv.slice(2);
  const server = /^https?:/.test(command) ? { url: new URL(command) } : { command, args, stderr: 'inherit' };
  // The server that was called ends with the client; a step that hangs must not keep both.
  setTimeout(() => fail(new Error('out of time')), 60_000).unref();
  try {
    const client = await connect(mode, server);
    client.onerror = error => say('complaint', { message: String(error) });
    const agreed = revision(client);
    const tool = (name, parameters, options, more) =>
      call(client, { name, arguments: parameters, ...more }, options);
    await steps(client, tool, agreed);
    await heardSteps(client, tool, agreed, (method, handler) => hear(client, method, handler));
    // Over HTTP one of them complains that it ends.
    if (server.url) client.onerror = undefined;
    await client.close();
    say('end', {});
  } catch (error) {
    fail(error);
  }
};

async function steps(client, call, revision) {
  say('connect', { revision, server: client.getServerVersion() });
  say('tools', await client.listTools());
  say('echo', await call('echo', { text: 'gr\u00fc\u00dfe \u{1f600} \u2028' }));
  say('add', await call('add', { a: 2, b: 40 }));

  const progress = [];
  const slow = await call('slow', { seconds: 0.4, steps: 4 }, { onprogress: report => progress.push(report) });
  say('slow', slow, { progress });

  say('denied', await call('image', {}));
  say('failed', await call('fail', { message: 'on purpose' }));
  if (revision >= '2025-06-18') say('ask', await call('ask', { question: 'Who is there?' }));

  // Cancelled at the first report: the call is under way, and far from its end.
  const cancel = new AbortController();
  const onprogress = () => cancel.abort('enough');
  const outcome = await call('slow', { seconds: 60, steps: 600 }, { onprogress, signal: cancel.signal }).then(
    () => 'a result',
    () => 'no result',
  );
  say('cancel', { outcome });
  say('after', await call('echo', { text: 'still here' }));
  // Long enough for a few more reports of the call that should be over.
  await call('slow', { seconds: 0.3, steps: 1 });
  if (revision < '2026') say('ping', await client.ping());

  say('resource', await client.readResource({ uri: 'demo://readme' }));
  say('template', await client.readResource({ uri: 'demo://greeting/Ada' }));
  say('prompt', await client.getPrompt({ name: 'greet', arguments: { name: 'Ada', tone: 'formal' } }));
  const complete = { ref: { type: 'ref/prompt', name: 'greet' }, argument: { name: 'name', value: 'a' } };
  say('complete', await client.complete(complete));
}

// What the server tells without being asked each time: log messages, and what has changed.
async function heardSteps(client, call, revision, hear) {
  const heard = new Set();
  hear('notifications/message', note => heard.add(note.params.data));
  hear('notifications/tools/list_changed', () => heard.add('tools'));
  hear('notifications/resources/updated', note => heard.add(note.params.uri));
  const hearing = async expected => {
    while (!expected.every(what => heard.has(what))) await new Promise(resolve => setTimeout(resolve, 5));
  };

  const modern = revision >= '2026';
  const level = modern ? { _meta: { 'io.modelcontextprotocol/logLevel': 'info' } } : {};
  if (!modern) await client.setLoggingLevel('info');
  say('log', await call('log', { level: 'warning', message: 'look here' }, {}, level));
  await hearing(['look here']);

  const uri = 'demo://counter';
  const subscription = modern
    ? await client.listen({ toolsListChanged: true, resourceSubscriptions: [uri] })
    : await client.subscribeResource({ uri });
  await call('toggle', {});
  await call('count', {});
  await hearing(['tools', uri]);
  say('changed', await client.listTools());
  if (modern) await subscription.close();
  else await client.unsubscribeResource({ uri });
  // Changes that it should hear nothing of; the last call is long enough for what comes late.
  await call('count', {});
  if (modern) await call('toggle', {});
  await call('slow', { seconds: 0.1, steps: 1 });
}

// What a user would have typed.
exports.answer = request => ({
  action: 'accept',
  content: { name: `whoever hears "${request.params.message}"` },
});

function say(step, result, more = {}) {
  console.log(JSON.stringify({ step, result, ...more }));
}

function fail(error) {
  console.error(error);
  process.exit(1);
}
