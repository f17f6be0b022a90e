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
  public static let valueDepth = ProtocolLimits.sendableDepth - 7
  /// Bytes of a label.
  public static let labelLength = 4096
  /// Fields from a scene down to its innermost field.
  public static let fieldDepth = 64
  /// Fields that `History` remembers.
  public static let historyLength = 32

  /// Checks that a field may have `count` keys.
  /// - Throws: `FocusError.limitExceeded`.
  static func check(keys count: Int) throws(FocusError) {
    guard count <= keysPerField else {
      throw .limitExceeded("a field may have \(keysPerField) keys, and this would have \(count)")
    }
  }

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
  /// How many of the fields will outlive the owner.
  var lingeringFields = 0
  /// How many of the bytes will outlive the owner.
  var lingeringBytes = 0

  var isEmpty: Bool { fields == 0 && bytes == 0 }

  /// Checks that `moreFields` and `moreBytes` still fit.
  /// - Throws: `FocusError.limitExceeded`.
  func check(fields moreFields: Int = 0, bytes moreBytes: Int, of holder: String = "one owner") throws(FocusError) {
    guard moreFields <= 0 || fields + moreFields <= Limits.fieldsPerOwner else {
      throw .limitExceeded("\(holder) may have \(Limits.fieldsPerOwner) fields, and this would be one more")
    }
    guard moreBytes <= 0 || bytes + moreBytes <= Limits.bytesPerOwner else {
      throw .limitExceeded(
        "\(holder) may have values of \(Limits.bytesPerOwner) bytes, and these would make it \(bytes + moreBytes)")
    }
  }
}

extension FocusModel {
  /// Checks that so much more fits into what `owner` may have and, where it is to outlive the owner, into what the fields
  /// without an owner share; else whoever comes and goes would leave behind more and more.
  /// - Throws: `FocusError.limitExceeded`.
  func checkAllowance(
    of owner: BusName?, lingers: Bool, fields: Int = 0, bytes: Int
  ) throws(FocusError) {
    let own = allowances[owner] ?? Allowance()
    try own.check(fields: fields, bytes: bytes)
    guard lingers, owner != nil else { return }
    var left = allowances[nil] ?? Allowance()
    left.fields += own.lingeringFields
    left.bytes += own.lingeringBytes
    try left.check(fields: fields, bytes: bytes, of: "owners who have left")
  }

  /// Counts what `field` takes up, or gives back, as its owner's.
  func charge(_ field: Field, fields: Int = 0, bytes: Int) {
    var allowance = allowances[field.owner] ?? Allowance()
    allowance.fields += fields
    allowance.bytes += bytes
    if field.lingers, field.owner != nil {
      allowance.lingeringFields += fields
      allowance.lingeringBytes += bytes
    }
    allowances[field.owner] = allowance.isEmpty ? nil : allowance
  }
}
