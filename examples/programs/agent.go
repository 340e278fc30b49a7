// An agent that stays: a line of JSON for each message and each answer, many conversations in one process.
//
//	go build -o agent agent.go
//	pytest --tau-domain retail --tau-agent stdio:./agent --tau-agent-llm gpt-4.1
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
)

type line struct {
	Conversation string `json:"conversation"`
	End          bool   `json:"end"`
	Text         string `json:"text"`
	Policy       string `json:"policy"`
	MCPURL       string `json:"mcp_url"`
	BaseURL      string `json:"base_url"`
	APIKey       string `json:"api_key"`
}

type object = map[string]any

type call struct {
	ID       string `json:"id"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

var (
	histories sync.Map // the messages of each conversation, by its id
	output    sync.Mutex
)

func post(url, key string, body, into any) error {
	sent, err := json.Marshal(body)
	if err != nil {
		return err
	}
	request, err := http.NewRequest("POST", url, bytes.NewReader(sent))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+key)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(response.Body)
		return fmt.Errorf("%s: HTTP %d: %s", url, response.StatusCode, text)
	}
	return json.NewDecoder(response.Body).Decode(into)
}

// mcp calls the server of the conversation's tools.
func mcp(message line, method string, params, into any) error {
	request := object{"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
	return post(message.MCPURL, message.APIKey, request, &struct {
		Result any `json:"result"`
	}{into})
}

func answer(message line) (string, error) {
	known, _ := histories.LoadOrStore(message.Conversation, []any{object{"role": "system", "content": message.Policy}})
	history := append(known.([]any), object{"role": "user", "content": message.Text})
	defer func() { histories.Store(message.Conversation, history) }()
	var listed struct {
		Tools []struct {
			Name        string `json:"name"`
			Description string `json:"description"`
			InputSchema any    `json:"inputSchema"`
		} `json:"tools"`
	}
	if err := mcp(message, "tools/list", object{}, &listed); err != nil {
		return "", err
	}
	tools := []object{}
	for _, tool := range listed.Tools {
		function := object{"name": tool.Name, "description": tool.Description, "parameters": tool.InputSchema}
		tools = append(tools, object{"type": "function", "function": function})
	}
	for {
		var completion struct {
			Choices []struct {
				Message json.RawMessage `json:"message"`
			} `json:"choices"`
		}
		body := object{"model": "tau", "messages": history, "tools": tools}
		if err := post(message.BaseURL+"/chat/completions", message.APIKey, body, &completion); err != nil {
			return "", err
		}
		var reply struct {
			Content   string `json:"content"`
			ToolCalls []call `json:"tool_calls"`
		}
		if err := json.Unmarshal(completion.Choices[0].Message, &reply); err != nil {
			return "", err
		}
		history = append(history, completion.Choices[0].Message)
		if len(reply.ToolCalls) == 0 {
			return reply.Content, nil
		}
		for _, made := range reply.ToolCalls {
			var result struct {
				Content []struct {
					Text string `json:"text"`
				} `json:"content"`
			}
			params := object{"name": made.Function.Name, "arguments": json.RawMessage(made.Function.Arguments)}
			if err := mcp(message, "tools/call", params, &result); err != nil {
				return "", err
			}
			history = append(history, object{"role": "tool", "tool_call_id": made.ID, "content": result.Content[0].Text})
		}
	}
}

func main() {
	input := bufio.NewReader(os.Stdin)
	for {
		text, err := input.ReadBytes('\n')
		if err != nil {
			return
		}
		var message line
		if err := json.Unmarshal(text, &message); err != nil {
			fmt.Fprintln(os.Stderr, err)
			continue
		}
		if message.End {
			histories.Delete(message.Conversation)
			continue
		}
		go func() {
			said := object{"conversation": message.Conversation}
			if text, err := answer(message); err != nil {
				said["error"] = err.Error()
			} else {
				said["text"] = text
			}
			output.Lock()
			defer output.Unlock()
			json.NewEncoder(os.Stdout).Encode(said)
		}()
	}
}
