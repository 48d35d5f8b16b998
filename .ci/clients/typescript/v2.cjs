// The TypeScript SDK 2: v2.cjs default|auto|REVISION -- SERVER... | URL
const { Client, StreamableHTTPClientTransport } = require('@modelcontextprotocol/client');
const { StdioClientTransport } = require('@modelcontextprotocol/client/stdio');
const { answer, main } = require('./script.cjs');

function options(mode) {
  switch (mode) {
    case 'default':
      return {};
    case 'auto':
      return { versionNegotiation: { mode } };
    case '2026-07-28':
      return { versionNegotiation: { mode: { pin: mode } } };
    default:
      return { supportedProtocolVersions: [mode] };
  }
}

main({
  connect: async (mode, server) => {
    const client = new Client(
      { name: 'typescript-2', version: '0' },
      { capabilities: { elicitation: {} }, ...options(mode) },
    );
    client.setRequestHandler('elicitation/create', answer);
    await client.connect(
      server.url ? new StreamableHTTPClientTransport(server.url) : new StdioClientTransport(server),
    );
    return client;
  },
  call: (client, params, options) => client.callTool(params, options),
  hear: (client, method, handler) => client.setNotificationHandler(method, handler),
  revision: client => client.getNegotiatedProtocolVersion(),
});
