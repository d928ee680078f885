package payments

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// Client asks the card processor.
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
		if attempt > 0 {
			if err := wait(ctx, time.Duration(attempt)*pause); err != nil {
				return "", err
			}
		}
		resp, err := c.send(ctx, body)
		if err != nil {
			last = err
			continue
		}
		if resp.StatusCode >= 500 {
			resp.Body.Close()
			last = fmt.Errorf("the processor answered %s", resp.Status)
			continue
		}
		defer resp.Body.Close()
		return reference(resp)
	}
	return "", fmt.Errorf("charge the card, tried %d times: %w", attempts, last)
}

func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *Client) send(ctx context.Context, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+"/v1/charges", bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("make the request: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	return c.http.Do(req)
}
