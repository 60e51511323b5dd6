package program

import (
	"context"

	"waybill/schema"
)

// Each calls fn with the entries of each page of a list. page is a part of params, which is a pointer.
func Each[T any](ctx context.Context, l *Local, method string, params any, page *schema.Page, fn func([]T) error) error {
	limit := schema.MaxPage
	page.Limit = &limit
	for {
		var got struct {
			Items      []T    `json:"items"`
			NextCursor string `json:"next_cursor"`
		}
		if err := l.Call(ctx, method, params, &got); err != nil {
			return err
		}
		if err := fn(got.Items); err != nil {
			return err
		}
		if page.Cursor = got.NextCursor; page.Cursor == "" {
			return nil
		}
	}
}
