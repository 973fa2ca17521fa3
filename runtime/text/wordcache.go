package text

import (
	"hash/maphash"
	"strings"
	"sync"
)

// wordCache remembers the segmentation of words. Natural text repeats its
// words, so that most need no merging at all. It is safe for concurrent use and
// bounded: a shard that is full starts anew.
type wordCache struct {
	seed   maphash.Seed
	shards [cacheShards]cacheShard
}

type cacheShard struct {
	mu    sync.RWMutex
	words map[string]string
	bytes int
}

const (
	cacheShards     = 32
	cacheShardBytes = 512 << 10 // 16 MiB in all
	cacheEntryBytes = 64        // what an entry takes besides its characters
	cacheWordBytes  = 128       // longer words are not kept
)

func newWordCache() *wordCache { return &wordCache{seed: maphash.MakeSeed()} }

func (c *wordCache) shard(word string) *cacheShard {
	return &c.shards[maphash.String(c.seed, word)%cacheShards]
}

func (c *wordCache) get(word string) (string, bool) {
	if len(word) > cacheWordBytes {
		return "", false
	}
	s := c.shard(word)
	s.mu.RLock()
	pieces, ok := s.words[word]
	s.mu.RUnlock()
	return pieces, ok
}

func (c *wordCache) put(word, pieces string) {
	if len(word) > cacheWordBytes {
		return
	}
	s := c.shard(word)
	size := len(word) + len(pieces) + cacheEntryBytes
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.words == nil || s.bytes+size > cacheShardBytes {
		s.words, s.bytes = make(map[string]string), 0
	}
	if _, ok := s.words[word]; !ok {
		s.words[strings.Clone(word)] = pieces
		s.bytes += size
	}
}
