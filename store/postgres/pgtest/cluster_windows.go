package pgtest

import (
	"errors"
	"time"
)

// patience is the time for a server to react.
const patience = time.Minute

var errNone = errors.New("name a server in WAYBILL_TEST_POSTGRES: none is started on this system")

func private(...string) (*Server, error) { return nil, errNone }

// Port returns the port that the server listens at.
func (s *Server) Port() int { return s.port }

// Start cannot start a server on this system.
func (s *Server) Start() error { return errNone }

// End cannot end a server on this system.
func (s *Server) End(string) error { return errNone }

// Stop ends nothing: a server that was named is not ours.
func (s *Server) Stop() {}
