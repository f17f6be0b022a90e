/// A value within marshalled values: its type and its start.
struct ElementPlace {
  var signature: UnsafeRawBufferPointer
  var index = 0
  var walker: WireWalker

  init(_ signature: UnsafeRawBufferPointer, _ walker: WireWalker, index: Int = 0) {
    self.signature = signature
    self.walker = walker
    self.index = index
  }

  var code: UInt8 { index < signature.count ? signature[index] : 0 }

  /// The signature of the value's type.
  var ownSignature: UnsafeRawBufferPointer {
    let end = (try? TypeCode.end(of: index, in: signature)) ?? signature.count
    return UnsafeRawBufferPointer(rebasing: signature[index..<end])
  }

  var type: DBusType { (try? DBusType(String(decoding: ownSignature, as: UTF8.self))) ?? .variant }

  /// Descends through all nested variants.
  mutating func lookThrough() {
    while code == TypeCode.variant, let text = try? walker.signatureText() {
      signature = UnsafeRawBufferPointer(rebasing: text[1..<(text.count - 1)])
      index = 0
    }
  }

  enum Child {
    case found(ElementPlace)
    /// The place after an array's last element.
    case appended
    /// A key that the dictionary does not have yet.
    case added(key: DBusValue)
    case missing(reason: String)
  }

  /// The child that `token` names.
  func child(_ token: String) -> Child {
    do {
      switch code {
      case TypeCode.structure: return try member(token)
      case TypeCode.array where index + 1 < signature.count && signature[index + 1] == TypeCode.entry:
        return try value(token)
      case TypeCode.array: return try element(token)
      default: return .missing(reason: "a value of type '\(type)' has no elements")
      }
    } catch {
      return .missing(reason: "\(error)")
    }
  }

  private func member(_ token: String) throws(WireError) -> Child {
    var next = self
    next.index += 1
    try next.walker.align(8)
    let wanted = Pointer.index(token)
    var count = 0
    while next.code != TypeCode.structureEnd {
      if count == wanted { return .found(next) }
      // For the members after it, only the count matters.
      if wanted == nil || count < wanted ?? 0 {
        try next.walker.skip(signature, &next.index)
      } else {
        next.index = try TypeCode.end(of: next.index, in: signature)
      }
      count += 1
    }
    return .missing(reason: Pointer.indexReason(token, "structure", count))
  }

  private func element(_ token: String) throws(WireError) -> Child {
    if token == "-" { return .appended }
    var next = self
    let end = try next.enterArray()
    let wanted = Pointer.index(token)
    if let size = TypeCode.fixedSize(next.code) {
      let count = (end - next.walker.position) / size
      guard let wanted, wanted < count else { return .missing(reason: Pointer.indexReason(token, "array", count)) }
      next.walker.position += wanted * size
      return .found(next)
    }
    let first = next.index
    var count = 0
    while next.walker.position < end {
      next.index = first
      if count == wanted { return .found(next) }
      try next.walker.skip(signature, &next.index)
      count += 1
    }
    return .missing(reason: Pointer.indexReason(token, "array", count))
  }

  /// Moves to the first element, and returns the end of the last one.
  mutating func enterArray() throws(WireError) -> Int {
    index += 1
    let length = Int(try walker.number())
    try walker.align(TypeCode.alignment(code))
    return walker.position + length
  }

  private func value(_ token: String) throws(WireError) -> Child {
    var next = self
    let end = try next.enterArray()
    let first = next.index + 1
    let keyCode = signature[first]
    guard let keyType = DBusType(basicCode: keyCode) else { return .missing(reason: "the dictionary is not valid") }
    while next.walker.position < end {
      try next.walker.align(8)
      next.index = first
      var key = next.walker
      try next.walker.skip(signature, &next.index)
      if try next.reads(token, keyCode, keyType, &key) { return .found(next) }
      try next.walker.skip(signature, &next.index)
    }
    guard let key = try? DBusValue(text: token, of: keyType), key.basicText?.hasSameBytes(as: token) == true else {
      return .missing(
        reason: "the dictionary's keys are of type '\(keyType)', and '\(token.excerpt)' is not of that type")
    }
    return .added(key: key)
  }

  /// Whether the text of the key at `walker` is `token`, byte for byte: Swift's `==` treats canonically equivalent texts
  /// as equal.
  private func reads(
    _ token: String, _ code: UInt8, _ type: DBusType, _ walker: inout WireWalker
  ) throws(WireError) -> Bool {
    if code == TypeCode.string || code == TypeCode.objectPath {
      return try walker.text(code).dropFirst(4).dropLast().elementsEqual(token.utf8)
    }
    var reader = WireReader(walker.source, at: walker.position)
    return try reader.value(type).basicText?.hasSameBytes(as: token) == true
  }
}
