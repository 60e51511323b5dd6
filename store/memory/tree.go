package memory

import (
	"cmp"
	"iter"
)

// node is the root of a balanced search tree that never changes: put and remove give a new tree
// that shares what it can with the old one. That makes a snapshot of a whole store one assignment.
// The nil node is the empty tree.
type node[K cmp.Ordered, V any] struct {
	key         K
	value       V
	left, right *node[K, V]
	height      int
	size        int
}

func (n *node[K, V]) count() int {
	if n == nil {
		return 0
	}
	return n.size
}

func (n *node[K, V]) tall() int {
	if n == nil {
		return 0
	}
	return n.height
}

func (n *node[K, V]) get(key K) (value V, ok bool) {
	for n != nil {
		switch c := cmp.Compare(key, n.key); {
		case c < 0:
			n = n.left
		case c > 0:
			n = n.right
		default:
			return n.value, true
		}
	}
	return value, false
}

func (n *node[K, V]) put(key K, value V) *node[K, V] {
	if n == nil {
		return with(key, value, nil, nil)
	}
	switch c := cmp.Compare(key, n.key); {
	case c < 0:
		return balanced(n.key, n.value, n.left.put(key, value), n.right)
	case c > 0:
		return balanced(n.key, n.value, n.left, n.right.put(key, value))
	default:
		return with(key, value, n.left, n.right)
	}
}

func (n *node[K, V]) remove(key K) *node[K, V] {
	if n == nil {
		return nil
	}
	switch c := cmp.Compare(key, n.key); {
	case c < 0:
		return balanced(n.key, n.value, n.left.remove(key), n.right)
	case c > 0:
		return balanced(n.key, n.value, n.left, n.right.remove(key))
	case n.right == nil:
		return n.left
	default:
		next := n.right.first()
		return balanced(next.key, next.value, n.left, n.right.remove(next.key))
	}
}

// first gives the node with the smallest key of a tree that is not empty.
func (n *node[K, V]) first() *node[K, V] {
	for n.left != nil {
		n = n.left
	}
	return n
}

// last gives the node with the greatest key of a tree that is not empty.
func (n *node[K, V]) last() *node[K, V] {
	for n.right != nil {
		n = n.right
	}
	return n
}

// after gives the entries with a greater key, in ascending order.
func (n *node[K, V]) after(key K) iter.Seq2[K, V] {
	return func(yield func(K, V) bool) { n.walk(&key, yield) }
}

// all gives all entries in ascending order of their keys.
func (n *node[K, V]) all() iter.Seq2[K, V] {
	return func(yield func(K, V) bool) { n.walk(nil, yield) }
}

// walk visits the entries behind *key, or all if key is nil, until yield wants no more.
func (n *node[K, V]) walk(key *K, yield func(K, V) bool) bool {
	if n == nil {
		return true
	}
	if key != nil && n.key <= *key {
		return n.right.walk(key, yield)
	}
	return n.left.walk(key, yield) && yield(n.key, n.value) && n.right.walk(nil, yield)
}

// before gives the entries with a smaller key, in descending order.
func (n *node[K, V]) before(key K) iter.Seq2[K, V] {
	return func(yield func(K, V) bool) { n.walkBack(&key, yield) }
}

// backwards gives all entries in descending order of their keys.
func (n *node[K, V]) backwards() iter.Seq2[K, V] {
	return func(yield func(K, V) bool) { n.walkBack(nil, yield) }
}

// walkBack visits the entries before *key, or all if key is nil, against their order, until yield wants no more.
func (n *node[K, V]) walkBack(key *K, yield func(K, V) bool) bool {
	if n == nil {
		return true
	}
	if key != nil && n.key >= *key {
		return n.left.walkBack(key, yield)
	}
	return n.right.walkBack(key, yield) && yield(n.key, n.value) && n.left.walkBack(nil, yield)
}

func with[K cmp.Ordered, V any](key K, value V, left, right *node[K, V]) *node[K, V] {
	return &node[K, V]{
		key: key, value: value, left: left, right: right,
		height: 1 + max(left.tall(), right.tall()),
		size:   1 + left.count() + right.count(),
	}
}

// balanced is with for two subtrees whose heights differ by at most two: it rotates so that they
// differ by at most one.
func balanced[K cmp.Ordered, V any](key K, value V, left, right *node[K, V]) *node[K, V] {
	switch l, r := left.tall(), right.tall(); {
	case l > r+1:
		if left.left.tall() >= left.right.tall() {
			return with(left.key, left.value, left.left, with(key, value, left.right, right))
		}
		mid := left.right
		return with(mid.key, mid.value,
			with(left.key, left.value, left.left, mid.left), with(key, value, mid.right, right))
	case r > l+1:
		if right.right.tall() >= right.left.tall() {
			return with(right.key, right.value, with(key, value, left, right.left), right.right)
		}
		mid := right.left
		return with(mid.key, mid.value,
			with(key, value, left, mid.left), with(right.key, right.value, mid.right, right.right))
	}
	return with(key, value, left, right)
}
