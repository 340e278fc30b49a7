// An agent that stays: a line of JSON for each message and each answer, many conversations in one process.
//
//     npx tsc --target es2022 --module nodenext --types node agent.ts
//     pytest --tau-domain retail --tau-agent 'stdio:node agent.js' --tau-agent-llm gpt-4.1

import { createInterface } from "node:readline";

interface Message {
  conversation: string;
  text: string;
  policy: string;
  mcp_url: string;
  base_url: string;
  api_key: string;
}

interface End {
  conversation: string;
  end: true;
}

interface Call {
  id: string;
  function: { name: string; arguments: string };
}

interface ChatMessage {
  role: string;
  content: string | null;
  tool_calls?: Call[];
  tool_call_id?: string;
}

const histories = new Map<string, ChatMessage[]>();

async function post(url: string, key: string, body: object): Promise<any> {
  const headers = { "content-type": "application/json", authorization: `Bearer ${key}` };
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${url}: HTTP ${response.status}: ${await response.text()}`);
  return response.json();
}

// The tools of the conversation over MCP.
async function mcp(message: Message, method: string, params: object): Promise<any> {
  const answer = await post(message.mcp_url, message.api_key, { jsonrpc: "2.0", id: 1, method, params });
  return answer.result;
}

async function answer(message: Message): Promise<string> {
  const history = histories.get(message.conversation) ?? [{ role: "system", content: message.policy }];
  histories.set(message.conversation, history);
  history.push({ role: "user", content: message.text });
  const { tools: listed } = await mcp(message, "tools/list", {});
  const tools = listed.map((tool: any) => ({
    type: "function",
    function: { name: tool.name, description: tool.description, parameters: tool.inputSchema },
  }));
  while (true) {
    const body = { model: "tau", messages: history, tools };
    const completion = await post(`${message.base_url}/chat/completions`, message.api_key, body);
    const reply: ChatMessage = completion.choices[0].message;
    history.push(reply);
    if (!reply.tool_calls?.length) return reply.content ?? "";
    for (const call of reply.tool_calls) {
      const params = { name: call.function.name, arguments: JSON.parse(call.function.arguments) };
      const result = await mcp(message, "tools/call", params);
      history.push({ role: "tool", tool_call_id: call.id, content: result.content[0].text });
    }
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const read: Message | End = JSON.parse(line);
  const conversation = read.conversation;
  if ("end" in read) histories.delete(conversation);
  else
    answer(read).then(
      (text) => console.log(JSON.stringify({ conversation, text })),
      (error) => console.log(JSON.stringify({ conversation, error: String(error) })),
    );
}
