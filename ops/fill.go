package ops

// Fill makes up the first t positions of a slot, for measurements that need a
// long past: numbers between -1 and 1. There is room for capacity positions
// without growing.
func (c *Cache) Fill(slot int32, t, capacity int) {
	cells := make([]float32, max(t, capacity)*2*c.d)
	made := min(t, 64) * 2 * c.d // the rest repeats them
	x := uint32(1)
	for i := range cells[:made] {
		x = x*1664525 + 1013904223
		cells[i] = float32(int32(x)) / (1 << 31)
	}
	for ; made < t*2*c.d; made *= 2 {
		copy(cells[made:t*2*c.d], cells[:made])
	}
	c.rows[slot] = cells
}
