package main

// wideTiles writes the tiles of Z registers of one kind: 1 … 14 rows × one panel, and with few rows several panels.
func wideTiles(k kind) {
	for rows := 1; rows <= 14; rows++ {
		tile{wide: true, kind: k, rows: rows, vecs: 2}.generate()
	}
	tile{wide: true, kind: k, rows: 1, vecs: 8}.generate()
	tile{wide: true, kind: k, rows: 2, vecs: 8}.generate()
	for rows := 3; rows <= 6; rows++ {
		tile{wide: true, kind: k, rows: rows, vecs: 4}.generate()
	}
}

// narrowTiles writes the tiles of Y registers: half a panel for 4 … 6 rows, one panel for 1 … 3, two for 1.
func narrowTiles(k kind) {
	tile{kind: k, rows: 1, vecs: 8}.generate()
	for rows := 1; rows <= 3; rows++ {
		tile{kind: k, rows: rows, vecs: 4}.generate()
	}
	for rows := 4; rows <= 6; rows++ {
		tile{kind: k, rows: rows, vecs: 2}.generate()
	}
}

// keepingTiles writes the tiles that store the widened weights, for the rows a first block of several can have.
func keepingTiles(k kind) {
	for rows := 7; rows <= 14; rows++ {
		tile{wide: true, kind: k, rows: rows, vecs: 2, keep: true}.generate()
	}
	tile{kind: k, rows: 3, vecs: 4, keep: true}.generate()
	for rows := 4; rows <= 6; rows++ {
		tile{kind: k, rows: rows, vecs: 2, keep: true}.generate()
	}
}

func floatTiles() {
	for _, k := range []kind{f32, f16, bfs} {
		wideTiles(k)
		narrowTiles(k)
	}
	keepingTiles(f16)
	keepingTiles(bfs)
}

func int8Tiles() {
	wideTiles(i8)
	narrowTiles(i8)
	for rows := 1; rows <= 8; rows++ {
		tile{wide: true, kind: i8w, rows: rows, vecs: 2}.generate()
	}
	for rows := 1; rows <= 4; rows++ {
		tile{kind: i8w, rows: rows, vecs: 2}.generate()
	}
}

func bfloatTiles() { wideTiles(bf) }
