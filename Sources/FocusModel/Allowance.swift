internal import DBusTypes
internal import FocusContract

extension Limits {
  /// Checks that a field may have `count` keys.
  /// - Throws: `ModelError.limitExceeded`.
  static func check(keys count: Int) throws(ModelError) {
    guard count <= keysPerField else {
      throw .limitExceeded("a field may have \(keysPerField) keys, but this one would have \(count)")
    }
  }

  /// Checks that `value` can be a binding's, and measures it together with its key.
  /// - Throws: `ModelError.limitExceeded`, or `invalid` for a value with a file descriptor, which cannot be kept.
  static func check(_ value: MarshalledValue, of key: Key) throws(ModelError) -> Extent {
    let bytes = value.size
    guard bytes <= Limits.value.bytes else {
      throw .limitExceeded(
        "the value of \(key) takes \(bytes) bytes, but a value may take at most \(Limits.value.bytes)")
    }
    let measure = value.measure
    guard !measure.holdsUnixFD else {
      throw .invalid("the value of \(key) contains a file descriptor, which cannot be stored")
    }
    guard measure.elements <= Limits.value.elements else {
      throw .limitExceeded(
        "the value of \(key) has \(measure.elements) elements, but a value may have \(Limits.value.elements)")
    }
    guard measure.depth <= valueDepth else {
      throw .limitExceeded("the value of \(key) is nested \(measure.depth) deep, but at most \(valueDepth) is allowed")
    }
    var extent = Extent(nameOf: key)
    extent += Extent(bytes: bytes, elements: measure.elements)
    return extent
  }
}

extension Extent {
  /// What the name of a key takes up.
  init(nameOf key: Key) { self.init(bytes: key.interface.text.utf8.count + 1 + key.member.text.utf8.count) }
}

/// What one owner, those who have left, or all together have taken up.
struct Allowance: Hashable {
  var fields = 0
  var extent = Extent()

  /// Whose allowance it is, for error messages.
  enum Holder {
    case owner
    case lingering
    case everyone

    /// A total; the error message does not show what others use.
    fileprivate func number(_ total: Int) -> String { self == .owner ? "\(total)" : "more" }

    fileprivate var fieldLimit: Int { self == .everyone ? Limits.fields : Limits.fieldsPerOwner }
    fileprivate var limit: Extent { self == .everyone ? Limits.total : Limits.perOwner }
    fileprivate var name: String {
      switch self {
      case .owner: "one owner"
      case .lingering: "all lingering fields and fields without an owner together"
      case .everyone: "all owners together"
      }
    }
  }

  mutating func add(fields moreFields: Int, _ more: Extent) {
    fields += moreFields
    extent += more
  }

  /// Checks that so much more still fits.
  /// - Throws: `ModelError.limitExceeded`.
  func check(_ holder: Holder, fields moreFields: Int, _ more: Extent) throws(ModelError) {
    guard moreFields <= 0 || fields + moreFields <= holder.fieldLimit else {
      throw .limitExceeded("\(holder.name) may have \(holder.fieldLimit) fields, but this would be one more")
    }
    guard more.bytes <= 0 || extent.bytes + more.bytes <= holder.limit.bytes else {
      throw .limitExceeded(
        "\(holder.name) may have values of \(holder.limit.bytes) bytes, but this would make it "
          + holder.number(extent.bytes + more.bytes))
    }
    guard more.elements <= 0 || extent.elements + more.elements <= holder.limit.elements else {
      throw .limitExceeded(
        "\(holder.name) may have values of \(holder.limit.elements) elements, but this would make it "
          + holder.number(extent.elements + more.elements))
    }
  }
}

/// What all owners have taken up.
struct Allowances: Hashable {
  private var owners: [BusName: Allowance] = [:]
  /// Of fields without an owner, and of those that will have none once theirs has left: else whoever comes and goes would
  /// leave behind more and more.
  private(set) var lingering = Allowance()
  private(set) var total = Allowance()

  /// Checks that so much more of `field` fits into what its owner, the lingering fields and all together may have.
  /// - Throws: `ModelError.limitExceeded`.
  func check(_ more: Extent, fields: Int = 0, of field: Field) throws(ModelError) {
    guard fields > 0 || more.bytes > 0 || more.elements > 0 else { return }
    if let owner = field.owner { try (owners[owner] ?? Allowance()).check(.owner, fields: fields, more) }
    if field.lingers || field.owner == nil { try lingering.check(.lingering, fields: fields, more) }
    try total.check(.everyone, fields: fields, more)
  }

  mutating func add(_ more: Extent, fields: Int = 0, of field: Field) {
    guard fields != 0 || more != .zero else { return }
    if field.lingers || field.owner == nil { lingering.add(fields: fields, more) }
    total.add(fields: fields, more)
    guard let owner = field.owner else { return }
    owners[owner, default: Allowance()].add(fields: fields, more)
    if fields < 0, owners[owner] == Allowance() { owners[owner] = nil }
  }
}
