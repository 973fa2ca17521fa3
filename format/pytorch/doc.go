// Package pytorch reads checkpoints that torch.save wrote, without Python and
// without executing anything.
//
// A checkpoint is a pickle (a program that builds a tree of Python values) and
// a number of storages (runs of raw elements). [Open] interprets the pickle
// into plain Go values: dictionaries, lists, numbers, strings, and a [Tensor]
// for every tensor, which says where its elements are. Storages are not read
// until [Tensor.Reader] streams them, so that opening a training checkpoint of
// several gigabytes takes memory for its tree only.
//
// # Containers
//
// Both of torch's containers are read. The zip archive (torch 1.6 and later)
// holds PREFIX/data.pkl, the pickle, and PREFIX/data/KEY, one member per
// storage. The older, "legacy" container is a sequence of pickles (magic
// number, protocol version, properties of the writing machine, the object, the
// list of storage keys) followed by the storages, each an element count and
// its elements. Everything is little-endian; a big-endian file is refused as
// unsupported, and so are TorchScript archives and the tar container of torch
// before 0.1.10.
//
// # Values
//
// Root and everything below it is one of
//
//	nil, bool, int64, *big.Int, float64, complex128, string, []byte
//	*List, *Tuple, *Set, *Dict, *Array (NumPy)
//	*Tensor, *Storage
//	*Global   a class or function by name
//	*Object   what calling one would have made
//
// Constructors of plain data (collections.OrderedDict, torch.Size, NumPy
// scalars and arrays, torch._utils._rebuild_tensor_v2 and their kin) give that
// data. Any other class or function gives an inert *Object with the name, the
// arguments and the attributes; nothing is ever imported or called. A pickle
// that names one of the modules or functions by which pickles are made to do
// harm (os, subprocess, builtins.eval and the like) is refused with a
// [ForbiddenGlobalError], wherever the name stands.
//
// The tree is a graph: what Python shared is one pointer here, and there may
// be cycles (OmegaConf's nodes know their parents). A walk must remember where
// it has been. Nesting is at most 2,000 deep.
//
// # Errors
//
// [CorruptError] says that the bytes are not what the format allows,
// [UnsupportedError] that they are but this package does not read them. Both
// carry the file's name and, where one byte is to blame, its offset.
// No file content causes a panic, and nothing is allocated from a number in
// the file before that number has been compared with the bytes that are there.
package pytorch
