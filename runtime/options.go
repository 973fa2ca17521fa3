package runtime

import (
	"fmt"
	"math"
)

// Options are the settings of a search, with fairseq's names, meanings and
// defaults. Start from [DefaultOptions]; zero values are settings too.
type Options struct {
	// Beam is the number of hypotheses kept at each step. Default 5.
	Beam int
	// NBest is the number of hypotheses returned, at most Beam. Default 1.
	NBest int
	// MaxLenA and MaxLenB bound a hypothesis of a source of S tokens (with
	// eos) to min(int(A·S + B), max_target_positions - 1) tokens before eos.
	// Defaults 0 and 200.
	MaxLenA, MaxLenB float64
	// MatchSourceLen bounds it to the source's length without eos instead.
	MatchSourceLen bool
	// MinLen is the least number of tokens before eos. Default 1.
	MinLen int
	// LenPen is the exponent of the length, eos counted, that divides the
	// score: above 1 favours long hypotheses. Default 1.
	LenPen float64
	// NoNormalize ranks by the plain sum of log-probabilities instead
	// (fairseq's --unnormalized).
	NoNormalize bool
	// UnkPen is subtracted from the log-probability of <unk>. Default 0.
	UnkPen float64
	// NoRepeatNgram forbids a hypothesis to repeat an n-gram of this size;
	// 0, the default, allows it.
	NoRepeatNgram int
	// ReplaceUnk replaces each <unk> of a translation's text by the source
	// word that it is aligned to most strongly (see [Scorer.Alignment]); the
	// tokens keep <unk>. A [Generator] ignores it.
	ReplaceUnk bool
	// Temperature divides the logits. Default 1.
	Temperature float64
	// Sampling draws tokens at random instead of searching: each of the Beam
	// hypotheses is a sample. TopK (0: all) keeps the k likeliest tokens;
	// otherwise TopP (0: all) the smallest set whose probability reaches p.
	Sampling bool
	TopK     int
	TopP     float64
	// Seed makes sampling repeatable: the same seed and input line number
	// give the same samples whatever the batching and threads.
	Seed uint64
	// Long is what to do with a line that is longer than the model can take;
	// "" is [LongSplit]. A [Generator] ignores it.
	Long LongPolicy
}

// DefaultOptions are fairseq's.
func DefaultOptions() Options {
	return Options{Beam: 5, NBest: 1, MaxLenB: 200, MinLen: 1, LenPen: 1, Temperature: 1}
}

// Validate reports the first setting outside its range.
func (o *Options) Validate() error {
	bad := func(name string, got any, want string) error {
		return fmt.Errorf("runtime: option %s is %v, want %s", name, got, want)
	}
	finite := func(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
	switch {
	case o.Beam < 1 || o.Beam > 1<<12:
		return bad("beam", o.Beam, "1 to 4096")
	case o.NBest < 1 || o.NBest > o.Beam:
		return bad("nbest", o.NBest, fmt.Sprintf("1 to the beam's %d", o.Beam))
	case !finite(o.MaxLenA) || o.MaxLenA < 0:
		return bad("max-len-a", o.MaxLenA, "0 or more")
	case !finite(o.MaxLenB) || o.MaxLenB < 0:
		return bad("max-len-b", o.MaxLenB, "0 or more")
	case o.MinLen < 0:
		return bad("min-len", o.MinLen, "0 or more")
	case !finite(o.LenPen):
		return bad("lenpen", o.LenPen, "a number")
	case !finite(o.UnkPen):
		return bad("unkpen", o.UnkPen, "a number")
	case o.NoRepeatNgram < 0:
		return bad("no-repeat-ngram-size", o.NoRepeatNgram, "0 or more")
	case !(o.Temperature > 0) || !finite(o.Temperature):
		return bad("temperature", o.Temperature, "above 0")
	case o.TopK < 0:
		return bad("sampling-topk", o.TopK, "0 or more")
	case !(o.TopP >= 0 && o.TopP <= 1):
		return bad("sampling-topp", o.TopP, "0 to 1")
	case o.Long != "" && o.Long != LongSplit && o.Long != LongTruncate && o.Long != LongFail:
		return bad("long", o.Long, "split, truncate or fail")
	case !o.Sampling && (o.TopK != 0 || o.TopP != 0):
		return fmt.Errorf("runtime: sampling-topk and sampling-topp need sampling")
	}
	return nil
}

// maxLen is the largest number of tokens before eos for a source of s tokens
// (with eos); limit is the model's max_target_positions.
func (o *Options) maxLen(s, limit int) int {
	n := o.MaxLenA*float64(s) + o.MaxLenB
	if o.MatchSourceLen {
		n = float64(s - 1)
	}
	return int(min(n, float64(limit-1)))
}
