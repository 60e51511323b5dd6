package web

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
)

// An Address is a loopback address to listen on, which no other machine can reach. The zero value is invalid.
type Address struct{ at netip.AddrPort }

// ParseAddress parses host:port. The host is a loopback address or localhost; port 0 means any free port.
func ParseAddress(text string) (Address, error) {
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		return Address{}, fmt.Errorf("%q is not host:port, as 127.0.0.1:0 is", text)
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return Address{}, fmt.Errorf("%q: the port must be a number from 0 to 65535", text)
	}
	if host == "localhost" {
		host = "127.0.0.1" // without asking a name server
	}
	ip, err := netip.ParseAddr(host)
	if err != nil || ip.Zone() != "" || !ip.Unmap().IsLoopback() {
		return Address{}, fmt.Errorf("%q: other machines could reach it, and there is no encryption; give 127.0.0.1, [::1] or localhost", text)
	}
	return Address{netip.AddrPortFrom(ip.Unmap(), uint16(number))}, nil
}

// Listen starts to listen on the address.
func (a Address) Listen(ctx context.Context) (net.Listener, error) {
	return new(net.ListenConfig).Listen(ctx, "tcp", a.at.String())
}

// URL returns the URL of a listener.
func URL(l net.Listener) string { return "http://" + l.Addr().String() }

// hostsOf returns the values of Host that a request to this address may have.
func hostsOf(addr net.Addr) ([]string, error) {
	at, err := netip.ParseAddrPort(addr.String())
	if err != nil || !at.Addr().Unmap().IsLoopback() {
		return nil, fmt.Errorf("web: Options.Listener is at %s, which is no loopback address", addr)
	}
	port := strconv.Itoa(int(at.Port()))
	var hosts []string
	for _, host := range []string{at.Addr().String(), "127.0.0.1", "::1", "localhost"} {
		hosts = append(hosts, net.JoinHostPort(host, port))
		if port == "80" { // browsers leave this port out
			hosts = append(hosts, trimPort(net.JoinHostPort(host, port)))
		}
	}
	slices.Sort(hosts)
	return slices.Compact(hosts), nil
}

func trimPort(host string) string { return host[:len(host)-len(":80")] }
