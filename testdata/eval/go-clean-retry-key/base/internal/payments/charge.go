package payments

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
)

// Client asks the card processor. Its HTTP client has a timeout.
type Client struct {
	base string
	http *http.Client
}

// Charge is what is charged to a card.
type Charge struct {
	Card     string `json:"card"`
	Cents    int64  `json:"amount"`
	Currency string `json:"currency"`
}

// Charge charges a card and returns the processor's reference.
func (c *Client) Charge(ctx context.Context, charge Charge) (string, error) {
	body, err := json.Marshal(charge)
	if err != nil {
		return "", fmt.Errorf("encode the charge: %w", err)
	}
	return c.send(ctx, body)
}

func (c *Client) send(ctx context.Context, body []byte) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+"/v1/charges", bytes.NewReader(body))
	if err != nil {
		return "", fmt.Errorf("make the request: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.http.Do(req)
	if err != nil {
		return "", fmt.Errorf("ask the processor: %w", err)
	}
	defer resp.Body.Close()
	return referenceIn(resp)
}
