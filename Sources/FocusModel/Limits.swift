internal import DBusTypes

/// What one owner, field or value may take up; past it an operation is refused and nothing changes.
public enum Limits {
  /// Fields of one owner; those without an owner count as one owner's.
  public static let fieldsPerOwner = 4096
  /// Bytes of values of one owner, as marshalled.
  public static let bytesPerOwner = 64 << 20
  /// Keys of one field.
  public static let keysPerField = 256
  /// Bytes of one value, as marshalled.
  public static let valueSize = 1 << 20
  /// Containers within each other in one value: what still fits into the deepest reply that shows it, which is that of
  /// `GetManagedObjects` with seven containers around each value.
  public static let valueDepth = ProtocolLimits.depth - 7
  /// Bytes of a label.
  public static let labelLength = 4096
  /// Fields from a scene down to its innermost field.
  public static let fieldDepth = 64
  /// Fields that `History` remembers.
  public static let historyLength = 32

  /// Checks that `value` can be a binding's, and measures it.
  /// - Throws: `FocusError.limitExceeded`, or `invalid` for a value with a file descriptor, which cannot be kept.
  /// - Returns: the value's size in bytes as marshalled.
  static func check(_ value: DBusValue, of key: Key) throws(FocusError) -> Int {
    guard !value.holdsUnixFD else {
      throw .invalid("the value of \(key) holds a file descriptor, which a stored binding cannot keep")
    }
    let size = value.marshalledSize
    guard size <= valueSize else {
      throw .limitExceeded("the value of \(key) takes \(size) bytes, and a value may take \(valueSize)")
    }
    let depth = value.depth
    guard depth <= valueDepth else {
      throw .limitExceeded("the value of \(key) is nested \(depth) deep, and \(valueDepth) is the most")
    }
    return size
  }
}

/// What one owner has taken up.
struct Allowance: Hashable {
  var fields = 0
  var bytes = 0

  var isEmpty: Bool { fields == 0 && bytes == 0 }

  /// Checks that `moreFields` and `moreBytes` still fit.
  /// - Throws: `FocusError.limitExceeded`.
  func check(fields moreFields: Int = 0, bytes moreBytes: Int) throws(FocusError) {
    guard moreFields <= 0 || fields + moreFields <= Limits.fieldsPerOwner else {
      throw .limitExceeded("one owner may have \(Limits.fieldsPerOwner) fields, and this would be one more")
    }
    guard moreBytes <= 0 || bytes + moreBytes <= Limits.bytesPerOwner else {
      throw .limitExceeded(
        "one owner's values may take \(Limits.bytesPerOwner) bytes, and these would make it \(bytes + moreBytes)")
    }
  }
}
