/// Bytes in the form in which D-Bus sends values, with the lowest byte of a number first.
package struct WireBytes: Sendable {
  package private(set) var bytes: [UInt8] = []

  package init() {}

  package var count: Int { bytes.count }

  /// Zeros up to the next multiple of `alignment`.
  package mutating func align(_ alignment: Int) {
    while bytes.count % alignment != 0 { bytes.append(0) }
  }

  /// A number, aligned to its size.
  package mutating func number(_ number: some FixedWidthInteger) {
    align(number.bitWidth / 8)
    withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
  }

  /// A string or an object path.
  package mutating func string(_ text: String) {
    number(UInt32(text.utf8.count))
    bytes.append(contentsOf: text.utf8)
    bytes.append(0)
  }

  package mutating func signature(_ text: String) {
    bytes.append(UInt8(text.utf8.count))
    bytes.append(contentsOf: text.utf8)
    bytes.append(0)
  }

  package mutating func fill(_ byte: UInt8, _ count: Int) {
    bytes.append(contentsOf: repeatElement(byte, count: count))
  }

  /// An array whose elements `write` appends.
  package mutating func array(alignment: Int, _ write: (inout WireBytes) -> Void) {
    number(UInt32(0))
    let length = bytes.count
    align(alignment)
    let start = bytes.count
    write(&self)
    withUnsafeBytes(of: UInt32(bytes.count - start).littleEndian) {
      bytes.replaceSubrange(length - 4..<length, with: $0)
    }
  }

  /// What `write` appends, `count` times; millions of times too, since what has repeated itself once is copied.
  package mutating func again(_ count: Int, _ write: (inout WireBytes) -> Void) {
    var starts: [(remainder: Int, offset: Int)] = []
    var written = 0
    while written < count {
      if let index = starts.firstIndex(where: { $0.remainder == bytes.count % 8 }) {
        let times = (count - written) / (written - index)
        copy(starts[index].offset, times)
        written += times * (written - index)
        // The rest is shorter than what repeats.
        for _ in written..<count { write(&self) }
        return
      }
      starts.append((bytes.count % 8, bytes.count))
      write(&self)
      written += 1
    }
  }

  /// Appends the bytes from `offset` to the end, `times` times.
  private mutating func copy(_ offset: Int, _ times: Int) {
    let block = bytes.count - offset
    let end = bytes.count + block * times
    bytes.reserveCapacity(end)
    while bytes.count < end {
      // Whatever has been copied already is a whole number of blocks.
      let size = min(bytes.count - offset, end - bytes.count)
      bytes.append(contentsOf: Array(bytes[offset..<offset + size]))
    }
  }
}
