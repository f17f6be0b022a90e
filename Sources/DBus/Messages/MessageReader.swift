internal import CDBus
public import DBusTypes

extension Message {
  /// The most that `arguments` decodes, in bytes as marshalled: an array's limit, and some more for what is beside it.
  public static let decodingLimit = ProtocolLimits.arraySize + (1 << 20)

  /// The message's values, decoded.
  ///
  /// Decoded values take several times the memory that they take in the message, so what will be refused for its size is
  /// better refused here.
  /// - Parameters:
  ///   - limit: the most bytes that all values may take.
  ///   - variantLimit: about the most bytes that one variant may take, or nil for no other limit.
  /// - Throws: `DBusError`, `LimitsExceeded` where they take more.
  /// - Returns: the values, one for each complete type of the signature.
  public func arguments(
    limit: Int = Message.decodingLimit, variantLimit: Int? = nil
  ) throws(DBusError) -> [DBusValue] {
    var reader = MessageReader(limit: limit, variantLimit: variantLimit)
    var iterator = DBusMessageIter()
    guard dbus_message_iter_init(raw, &iterator) != 0 else { return [] }
    var values: [DBusValue] = []
    repeat { values.append(try reader.read(&iterator)) } while dbus_message_iter_next(&iterator) != 0
    return values
  }
}

/// Decodes values at libdbus's iterators, which have checked every length, name and depth on arrival.
private struct MessageReader {
  private let limit: Int
  private let variantLimit: Int?
  private var size = 0
  /// Where the outermost variant that is being read has to end.
  private var variantEnd: Int?

  init(limit: Int, variantLimit: Int?) {
    self.limit = limit
    self.variantLimit = variantLimit
  }

  private mutating func count(_ bytes: Int) throws(DBusError) {
    size += bytes
    if let variantEnd, let variantLimit, size > variantEnd {
      throw DBusError(.limitsExceeded, "a value in the message takes more than \(variantLimit) bytes")
    }
    guard size <= limit else {
      throw DBusError(.limitsExceeded, "the message holds more than \(limit) bytes of values")
    }
  }

  private func basic<T>(_ iterator: inout DBusMessageIter, _ initial: T) -> T {
    var value = initial
    withUnsafeMutablePointer(to: &value) { dbus_message_iter_get_basic(&iterator, $0) }
    return value
  }

  private mutating func text(_ iterator: inout DBusMessageIter) throws(DBusError) -> String {
    let text = String(optionalCString: basic(&iterator, UnsafePointer<CChar>?.none)) ?? ""
    try count(text.utf8.count + 5)
    return text
  }

  mutating func read(_ type: DBusType, _ iterator: inout DBusMessageIter) throws(DBusError) -> DBusValue {
    if let fixed = type.fixedSize { try count(fixed) }
    switch type {
    case .byte: return .byte(basic(&iterator, 0))
    case .boolean: return .boolean(basic(&iterator, dbus_bool_t(0)) != 0)
    case .int16: return .int16(basic(&iterator, 0))
    case .uint16: return .uint16(basic(&iterator, 0))
    case .int32: return .int32(basic(&iterator, 0))
    case .uint32: return .uint32(basic(&iterator, 0))
    case .int64: return .int64(basic(&iterator, 0))
    case .uint64: return .uint64(basic(&iterator, 0))
    case .double: return .double(basic(&iterator, 0))
    case .string: return .string(try text(&iterator))
    case .objectPath: return .objectPath(ObjectPath(known: try text(&iterator)))
    case .signature: return .signature(try signature(try text(&iterator)))
    case .unixFD: return try unixFD(&iterator)
    case .array(let element): return .array(try array(of: element, &iterator))
    case .structure(let members): return .structure(try structure(members, &iterator))
    case .dictionary(let key, let value): return .dictionary(try dictionary(key, value, &iterator))
    case .variant: return .variant(try variant(&iterator))
    }
  }

  private func signature(_ text: String) throws(DBusError) -> Signature {
    do { return try Signature(text) } catch { throw DBusError(error) }
  }

  private func unixFD(_ iterator: inout DBusMessageIter) throws(DBusError) -> DBusValue {
    let number = basic(&iterator, Int32(-1))
    guard number >= 0 else {
      throw DBusError(.invalidArgs, "the message names a file descriptor that it does not carry")
    }
    return .unixFD(UnixFD(owning: number))
  }

  private mutating func array(
    of element: DBusType, _ iterator: inout DBusMessageIter
  ) throws(DBusError) -> DBusArray {
    var inner = DBusMessageIter()
    dbus_message_iter_recurse(&iterator, &inner)
    try count(8)
    if element == .byte {
      var start: UnsafePointer<UInt8>?
      var length: Int32 = 0
      withUnsafeMutablePointer(to: &start) { dbus_message_iter_get_fixed_array(&inner, $0, &length) }
      try count(Int(length))
      return DBusArray(bytes: Array(UnsafeBufferPointer(start: start, count: Int(length))))
    }
    var elements: [DBusValue] = []
    while dbus_message_iter_get_arg_type(&inner) != CDBUS_TYPE_INVALID {
      elements.append(try read(element, &inner))
      dbus_message_iter_next(&inner)
    }
    return DBusArray(known: element, elements)
  }

  private mutating func structure(
    _ types: [DBusType], _ iterator: inout DBusMessageIter
  ) throws(DBusError) -> [DBusValue] {
    var inner = DBusMessageIter()
    dbus_message_iter_recurse(&iterator, &inner)
    try count(8)
    var members: [DBusValue] = []
    members.reserveCapacity(types.count)
    for type in types {
      members.append(try read(type, &inner))
      dbus_message_iter_next(&inner)
    }
    return members
  }

  private mutating func dictionary(
    _ keyType: DBusType, _ valueType: DBusType, _ iterator: inout DBusMessageIter
  ) throws(DBusError) -> DBusDictionary {
    var inner = DBusMessageIter()
    dbus_message_iter_recurse(&iterator, &inner)
    try count(8)
    var entries: [DBusDictionary.Entry] = []
    while dbus_message_iter_get_arg_type(&inner) != CDBUS_TYPE_INVALID {
      var entry = DBusMessageIter()
      dbus_message_iter_recurse(&inner, &entry)
      try count(8)
      let key = try read(keyType, &entry)
      dbus_message_iter_next(&entry)
      entries.append(.init(key: key, value: try read(valueType, &entry)))
      dbus_message_iter_next(&inner)
    }
    return DBusDictionary(known: keyType, valueType, entries)
  }

  private mutating func variant(_ iterator: inout DBusMessageIter) throws(DBusError) -> DBusValue {
    var inner = DBusMessageIter()
    dbus_message_iter_recurse(&iterator, &inner)
    try count(3)
    guard variantEnd == nil, let variantLimit else { return try read(&inner) }
    variantEnd = size + variantLimit
    defer { variantEnd = nil }
    return try read(&inner)
  }

  /// Reads what is at the iterator, whatever its type.
  mutating func read(_ iterator: inout DBusMessageIter) throws(DBusError) -> DBusValue {
    let code = UInt8(truncatingIfNeeded: dbus_message_iter_get_arg_type(&iterator))
    // Most values are basic, and their types need no parsing.
    if let basic = DBusType(basicCode: code) { return try read(basic, &iterator) }
    if code == DBusType.variant.code { return try read(.variant, &iterator) }
    guard let raw = dbus_message_iter_get_signature(&iterator) else { throw .noMemory }
    defer { dbus_free(raw) }
    guard let type = try signature(String(cString: raw)).types.first else {
      throw DBusError(.invalidArgs, "a variant in the message holds no value")
    }
    return try read(type, &iterator)
  }
}
