/// Decodes marshalled values.
struct WireReader {
  /// Finds a descriptor by its index in the message, or by the number of references before it.
  typealias Descriptors = (_ index: Int, _ before: Int) -> UnixFD?

  private var walker: WireWalker
  private let descriptors: Descriptors
  private var descriptorCount = 0

  init(
    _ source: UnsafeRawBufferPointer, at position: Int = 0, descriptors: @escaping Descriptors = { _, _ in nil }
  ) {
    walker = WireWalker(source, at: position)
    self.descriptors = descriptors
  }

  private mutating func number<Number: FixedWidthInteger>(_: Number.Type = Number.self) throws(WireError) -> Number {
    let size = MemoryLayout<Number>.size
    return try walker.take(size, alignment: size).loadUnaligned(as: Number.self)
  }

  mutating func text() throws(WireError) -> String {
    String(decoding: try walker.text(TypeCode.string).dropFirst(4).dropLast(), as: UTF8.self)
  }

  private mutating func signature() throws(WireError) -> Signature {
    let text = String(decoding: try walker.signatureText().dropFirst().dropLast(), as: UTF8.self)
    do { return try Signature(text) } catch { throw .malformed("\(error)") }
  }

  /// The next value, of `type`.
  mutating func value(_ type: DBusType, depth: Int = 0) throws(WireError) -> DBusValue {
    guard depth <= ProtocolLimits.depth else { throw .tooDeep }
    switch type {
    case .byte: return .byte(try number())
    case .boolean: return .boolean(try number(UInt32.self) != 0)
    case .int16: return .int16(try number())
    case .uint16: return .uint16(try number())
    case .int32: return .int32(try number())
    case .uint32: return .uint32(try number())
    case .int64: return .int64(try number())
    case .uint64: return .uint64(try number())
    case .double: return .double(Double(bitPattern: try number()))
    case .string: return .string(try text())
    case .objectPath: return .objectPath(ObjectPath(known: try text()))
    case .signature: return .signature(try signature())
    case .unixFD:
      let index = Int(try number(UInt32.self))
      guard let descriptor = descriptors(index, descriptorCount) else { throw .missingDescriptor }
      descriptorCount += 1
      return .unixFD(descriptor)
    case .array(let element): return .array(try array(of: element, depth))
    case .structure(let types):
      try walker.align(8)
      var members: [DBusValue] = []
      members.reserveCapacity(types.count)
      for type in types { members.append(try value(type, depth: depth + 1)) }
      return .structure(members)
    case .dictionary(let key, let value): return .dictionary(try dictionary(key, value, depth))
    case .variant: return .variant(try variant(depth))
    }
  }

  private mutating func variant(_ depth: Int) throws(WireError) -> DBusValue {
    let text = try walker.signatureText()
    // Most values are basic, and their types need no parsing.
    if text.count == 3, let basic = DBusType(basicCode: text[1]) { return try value(basic, depth: depth + 1) }
    walker.position -= text.count
    let types = try signature().types
    guard let type = types.first, types.count == 1 else { throw .malformed("a variant's signature is not one type") }
    return try value(type, depth: depth + 1)
  }

  /// Reads an array's length and skips the padding before its first element.
  private mutating func end(alignment: Int) throws(WireError) -> Int {
    let length = Int(try number(UInt32.self))
    try walker.align(alignment)
    guard length <= walker.source.count - walker.position else {
      throw .malformed("an array of \(length) bytes exceeds the remaining bytes")
    }
    return walker.position + length
  }

  private mutating func array(of element: DBusType, _ depth: Int) throws(WireError) -> DBusArray {
    let end = try end(alignment: element.alignment)
    if element == .byte {
      return DBusArray(bytes: Array(try walker.take(end - walker.position, alignment: 1)))
    }
    var elements: [DBusValue] = []
    while walker.position < end { elements.append(try value(element, depth: depth + 1)) }
    return DBusArray(known: element, elements)
  }

  private mutating func dictionary(
    _ keyType: DBusType, _ valueType: DBusType, _ depth: Int
  ) throws(WireError) -> DBusDictionary {
    let end = try end(alignment: 8)
    var entries: [DBusDictionary.Entry] = []
    while walker.position < end {
      try walker.align(8)
      let key = try value(keyType, depth: depth + 2)
      entries.append(.init(key: key, value: try value(valueType, depth: depth + 2)))
    }
    return DBusDictionary(known: keyType, valueType, entries)
  }
}

extension DBusValue {
  /// The values in `bytes`, of the types in `signature`; the bytes were checked when they were received.
  ///
  /// `descriptors` are those that the values reference, in order.
  /// - Throws: `WireError`.
  package static func decode(
    _ signature: String, _ bytes: UnsafeRawBufferPointer, descriptors: @autoclosure () -> [UnixFD?], elementLimit: Int
  ) throws(WireError) -> [DBusValue] {
    let types: [DBusType]
    do { types = try Signature(signature).types } catch { throw .malformed("\(error)") }
    try WireWalker.check(bytes, signature, elementLimit: elementLimit)
    // Only after the check of the limit, which covers this work too.
    let descriptors = descriptors()
    var reader = WireReader(bytes) { _, before in before < descriptors.count ? descriptors[before] : nil }
    var values: [DBusValue] = []
    for type in types { values.append(try reader.value(type)) }
    return values
  }
}

extension MarshalledValue {
  /// The decoded values of `marshalled`, which reference `descriptors` in order.
  package static func values(_ marshalled: [MarshalledValue], naming descriptors: [UnixFD?]) -> [DBusValue] {
    var next = 0
    return marshalled.map { value in
      value.decoded { _, _ in
        defer { next += 1 }
        return next < descriptors.count ? descriptors[next] : nil
      }
    }
  }
}

extension WireWalker {
  /// The maximum number of elements per byte: nested structures take no bytes of their own.
  private static let elementsPerByte = 34

  /// Whether `bytes` may contain more than `limit` elements.
  package static func mayHold(_ bytes: UnsafeRawBufferPointer, more limit: Int) -> Bool {
    bytes.count > limit / elementsPerByte
  }

  /// Checks that the values of the types in `signature` have no more than `elementLimit` elements; the walk ends there.
  /// - Throws: `WireError.tooManyElements`.
  package static func check(
    _ bytes: UnsafeRawBufferPointer, _ signature: String, elementLimit: Int
  ) throws(WireError) {
    guard mayHold(bytes, more: elementLimit) else { return }
    var walker = WireWalker(bytes, elementLimit: elementLimit)
    try walker.skipAll(signature)
  }

  /// Skips values of the types in `signature`.
  mutating func skipAll(_ signature: String) throws(WireError) {
    let codes = Array(signature.utf8)
    var fault: WireError?
    codes.withUnsafeBytes { codes in
      var index = 0
      do throws(WireError) {
        while index < codes.count { try skip(codes, &index) }
      } catch { fault = error }
    }
    if let fault { throw fault }
  }
}
