internal import Glibc

extension String {
  /// Whether both texts have the same bytes; immediate for copies of one text.
  ///
  /// `==` treats canonically equivalent texts as equal, D-Bus does not.
  package func hasSameBytes(as other: String) -> Bool {
    guard utf8.count == other.utf8.count else { return false }
    let areSame = utf8.withContiguousStorageIfAvailable { own in
      other.utf8.withContiguousStorageIfAvailable { theirs in
        guard let left = own.baseAddress, let right = theirs.baseAddress, left != right else { return true }
        return memcmp(left, right, own.count) == 0
      }
    }
    return areSame.flatMap { $0 } ?? utf8.elementsEqual(other.utf8)
  }

  /// Whether the text contains NUL.
  package var holdsNUL: Bool {
    utf8.withContiguousStorageIfAvailable { bytes in
      bytes.baseAddress.map { memchr($0, 0, bytes.count) != nil } ?? false
    } ?? utf8.contains(0)
  }
}
