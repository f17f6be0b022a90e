internal import Glibc

extension String {
  /// Whether both texts are the same bytes, at once for copies of one text.
  ///
  /// To `==` a letter with an accent is the same as the accented letter, and to D-Bus it is not.
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

  /// Whether a NUL is anywhere in the text.
  package var holdsNUL: Bool {
    utf8.withContiguousStorageIfAvailable { bytes in
      bytes.baseAddress.map { memchr($0, 0, bytes.count) != nil } ?? false
    } ?? utf8.contains(0)
  }
}
