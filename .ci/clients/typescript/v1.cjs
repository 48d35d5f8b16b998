// The TypeScript SDK 1: v1.cjs default -- SERVER... | URL
const { Client } = require('@modelcontextprotocol/sdk/client/index.js');
const { StdioClientTransport } = require('@modelcontextprotocol/sdk/client/stdio.js');
const { StreamableHTTPClientTransport } = require('@modelcontextprotocol/sdk/client/streamableHttp.js');
const types = require('@modelcontextprotocol/sdk/types.js');
const { answer, main } = require('./script.cjs');

const heard = {
  'notifications/message': types.LoggingMessageNotificationSchema,
  'notifications/resources/updated': types.ResourceUpdatedNotificationSchema,
  'notifications/tools/list_changed': types.ToolListChangedNotificationSchema,
};

// It offers the newest revision it knows, and has no setting for another one.
let agreed;

main({
  connect: async (mode, server) => {
    if (mode !== 'default') throw new Error(`no mode ${mode}`);
    const client = new Client({ name: 'typescript-1', version: '0' }, { capabilities: { elicitation: {} } });
    client.setRequestHandler(types.ElicitRequestSchema, answer);
    const transport = server.url
      ? new StreamableHTTPClientTransport(server.url)
      : new StdioClientTransport(server);
    const tell = transport.setProtocolVersion?.bind(transport);
    transport.setProtocolVersion = version => {
      agreed = version;
      tell?.(version);
    };
    await client.connect(transport);
    return client;
  },
  call: (client, params, options) => client.callTool(params, undefined, options),
  hear: (client, method, handler) => client.setNotificationHandler(heard[method], handler),
  revision: () => agreed,
});
