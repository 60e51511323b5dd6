package web_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/api"
	"waybill/schema"
)

func TestReadinessFollowsTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		looks, broken := 0, false
		h := newHarness(t, setup{methods: methods{"list_awaiting": func(start startFunc) startFunc {
			return func(ctx context.Context, params []byte, done func(api.Answer)) {
				looks++
				if broken {
					done(api.Answer{Err: schema.NewError(schema.StoreCorrupt, "/home/me/secret is damaged")})
					return
				}
				start(ctx, params, done)
			}
		}}})
		ready := func(status int) {
			a := h.ask("GET", "/readyz", "", "Authorization")
			require.Equal(t, status, a.status)
			a.requireSecurityHeaders()
			require.NotContains(t, string(a.body), "secret")
			require.Equal(t, status == 200, a.object().at("ready"))
		}
		ready(200)
		broken = true
		ready(200)
		require.Equal(t, 1, looks, "everybody can ask, so it is not looked each time")
		time.Sleep(time.Second)
		ready(503)
		broken = false
		time.Sleep(time.Second)
		ready(200)
	})
}

// Somebody asks whether the store can be read, and leaves before it is known: those who ask meanwhile wait for what is
// seen, and it is the store that they are told of.
func TestReadinessCheckSurvivesAClientThatLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		looks, release := make(chan struct{}, 9), make(chan struct{})
		h := newHarness(t, setup{methods: methods{"list_awaiting": func(start startFunc) startFunc {
			return func(ctx context.Context, params []byte, done func(api.Answer)) {
				looks <- struct{}{}
				select {
				case <-release:
					start(ctx, params, done)
				case <-ctx.Done():
					done(api.Answer{Err: schema.NewError(schema.Cancelled, "the request was cancelled")})
				}
			}
		}}})
		conn := h.connect()
		_, err := conn.Write([]byte("GET /readyz HTTP/1.1\r\nHost: " + testAddress + "\r\n\r\n"))
		require.NoError(t, err)
		<-looks
		statuses := make(chan int, 2)
		for range cap(statuses) {
			go func() { statuses <- h.ask("GET", "/readyz", "", "Authorization").status }() // ends with its answer
		}
		_ = conn.Close()
		synctest.Wait()
		require.Empty(t, statuses, "nobody knows yet")
		close(release)
		require.Equal(t, []int{200, 200}, []int{<-statuses, <-statuses})
		require.Empty(t, looks, "one look is for all")
	})
}

// A check of a hanging store ends soon.
func TestReadinessIsFalseWhenTheStoreHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, setup{methods: methods{
			"list_awaiting": replaceMethod(func(ctx ctx, _ []byte, done func(api.Answer)) {
				<-ctx.Done()
				done(api.Answer{Err: schema.NewError(schema.StoreIO, "the disk is gone")})
			}),
		}})
		began := time.Now()
		for range 3 {
			require.Equal(t, 503, h.ask("GET", "/readyz", "", "Authorization").status)
		}
		require.Equal(t, time.Second, time.Since(began))
	})
}
