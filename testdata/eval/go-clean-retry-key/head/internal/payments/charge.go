package payments

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// Client asks the card processor. Its HTTP client has a timeout.
type Client struct {
	base string
	http *http.Client
}

// Charge is what is charged to a card.
type Charge struct {
	Order    string `json:"-"` // unique: the key by which the processor knows it again
	Card     string `json:"card"`
	Cents    int64  `json:"amount"`
	Currency string `json:"currency"`
}

const (
	attempts = 3
	pause    = 200 * time.Millisecond
)

// Charge charges a card and returns the processor's reference.
func (c *Client) Charge(ctx context.Context, charge Charge) (string, error) {
	body, err := json.Marshal(charge)
	if err != nil {
		return "", fmt.Errorf("encode the charge: %w", err)
	}
	var last error
	for attempt := range attempts {
		select {
		case <-time.After(time.Duration(attempt) * pause):
		case <-ctx.Done():
			return "", ctx.Err()
		}
		reference, again, err := c.send(ctx, charge.Order, body)
		if err == nil || !again {
			return reference, err
		}
		last = err
	}
	return "", fmt.Errorf("charge the card, tried %d times: %w", attempts, last)
}

// send makes one attempt, and says whether another could help.
func (c *Client) send(ctx context.Context, key string, body []byte) (reference string, again bool, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+"/v1/charges", bytes.NewReader(body))
	if err != nil {
		return "", false, fmt.Errorf("make the request: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Idempotency-Key", key)
	resp, err := c.http.Do(req)
	if err != nil {
		return "", true, fmt.Errorf("ask the processor: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode >= 500 {
		return "", true, fmt.Errorf("the processor answered %s", resp.Status)
	}
	reference, err = referenceIn(resp)
	return reference, false, err
}
