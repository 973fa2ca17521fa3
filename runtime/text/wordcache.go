package text

import (
	"hash/maphash"
	"strings"
	"sync"
)

// wordCache remembers the segmentation of words. Natural text repeats its
// words, so that most need no merging at all. It is safe for concurrent use and
// bounded: a shard that is full starts anew.
type wordCache[V any] struct {
	seed   maphash.Seed
	shards [cacheShards]cacheShard[V]
}

type cacheShard[V any] struct {
	mu    sync.RWMutex
	words map[string]V
	bytes int
}

const (
	cacheShards     = 32
	cacheShardBytes = 512 << 10 // 16 MiB in all
	cacheEntryBytes = 64        // what an entry takes besides its characters
	cacheWordBytes  = 128       // longer words are not kept
)

func newWordCache[V any]() *wordCache[V] { return &wordCache[V]{seed: maphash.MakeSeed()} }

func (c *wordCache[V]) shard(word string) *cacheShard[V] {
	return &c.shards[maphash.String(c.seed, word)%cacheShards]
}

func (c *wordCache[V]) get(word string) (v V, ok bool) {
	if len(word) > cacheWordBytes {
		return v, false
	}
	s := c.shard(word)
	s.mu.RLock()
	v, ok = s.words[word]
	s.mu.RUnlock()
	return v, ok
}

// put keeps the segmentation of a word, which takes size bytes besides it.
// The word is copied, so that its line is not kept alive.
func (c *wordCache[V]) put(word string, v V, size int) {
	if len(word) > cacheWordBytes {
		return
	}
	s := c.shard(word)
	size += len(word) + cacheEntryBytes
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.words == nil || s.bytes+size > cacheShardBytes {
		s.words, s.bytes = make(map[string]V), 0
	}
	if _, ok := s.words[word]; !ok {
		s.words[strings.Clone(word)] = v
		s.bytes += size
	}
}
