// An agent in the AI SDK that stays, and asks the approver before the tools in ASKED_FOR (`needsApproval`):
//
//     npm install ai @ai-sdk/openai
//     pytest --tau-domain retail-approvals --tau-agent 'stdio:node ai_sdk.mjs' --tau-agent-llm openai/gpt-4.1
import { createInterface } from "node:readline";
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, jsonSchema, stepCountIs, tool } from "ai";

const ASKED_FOR = ["return_delivered_order_items", "cancel_pending_order", "modify_user_address", "update_task_status"];
const conversations = new Map();

async function mcp(url, method, params = {}) {
  const headers = { "Content-Type": "application/json", Accept: "application/json, text/event-stream" };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const text = await (await fetch(url, { method: "POST", headers, body })).text();
  const data = text.split("\n").find((line) => line.startsWith("data: "));
  return JSON.parse(data ? data.slice(6) : text).result;
}

async function call(url, name, args) {
  return (await mcp(url, "tools/call", { name, arguments: args })).content[0].text;
}

async function begin({ base_url, api_key, mcp_url, policy }) {
  const tools = {};
  for (const { name, description, inputSchema } of (await mcp(mcp_url, "tools/list")).tools) {
    const execute = (args) => call(mcp_url, name, args);
    const needsApproval = ASKED_FOR.includes(name);
    if (name !== "request_approval")
      tools[name] = tool({ description, inputSchema: jsonSchema(inputSchema), execute, needsApproval });
  }
  const model = createOpenAI({ baseURL: base_url, apiKey: api_key }).chat("gpt-4.1");
  return { model, tools, system: policy, messages: [], stopWhen: stepCountIs(50) };
}

async function answer(message) {
  const id = message.conversation;
  if (!conversations.has(id)) conversations.set(id, await begin(message));
  const conversation = conversations.get(id);
  conversation.messages.push({ role: "user", content: message.text });
  for (;;) {
    const result = await generateText(conversation);
    conversation.messages.push(...result.response.messages);
    const requests = result.content.filter((part) => part.type === "tool-approval-request");
    if (requests.length === 0) return result.text;
    const content = [];
    for (const { approvalId, toolCall } of requests) {
      const asked = { tool: toolCall.toolName, arguments: toolCall.input };
      const { decision, text } = JSON.parse(await call(message.mcp_url, "request_approval", asked));
      const approved = decision === "approved" || decision === "not_needed";
      content.push({ type: "tool-approval-response", approvalId, approved, reason: text });
    }
    conversation.messages.push({ role: "tool", content });
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  if (message.end) {
    conversations.delete(message.conversation);
    continue;
  }
  answer(message).then(
    (text) => console.log(JSON.stringify({ conversation: message.conversation, text })),
    (error) => console.log(JSON.stringify({ conversation: message.conversation, error: String(error) })),
  );
}
