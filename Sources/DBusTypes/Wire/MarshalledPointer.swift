/// Elements of marshalled values: what lies beside the way to one is copied, not decoded.
extension MarshalledValue {
  /// The element at `pointer`; if it lies in a variant, what that holds.
  /// - Throws: `PointerError.noSuchElement`.
  public func element(at pointer: Pointer) throws(PointerError) -> MarshalledValue {
    guard !pointer.tokens.isEmpty else { return self }
    return try withParts { signature, content in
      Result { () throws(PointerError) in
        var place = ElementPlace(signature, WireWalker(content))
        for token in pointer.tokens {
          place.lookThrough()
          switch place.child(token) {
          case .found(let child): place = child
          case .appended, .added: throw .noSuchElement(pointer, reason: "'\(token)' can be written, and is not there yet")
          case .missing(let reason): throw .noSuchElement(pointer, reason: reason)
          }
        }
        place.lookThrough()
        guard let element = try? MarshalledValue(&place.walker, place.signature, &place.index) else {
          throw .noSuchElement(pointer, reason: "the value is not valid")
        }
        return element
      }
    }.get()
  }

  /// This value with the element at `pointer` replaced, appended or added.
  ///
  /// In a variant, a value of the type that it holds replaces its content, and a variant replaces it whatever it holds.
  /// - Throws: `PointerError`.
  public func replacingElement(
    at pointer: Pointer, with element: MarshalledValue
  ) throws(PointerError) -> MarshalledValue {
    try withParts { signature, content in
      Result { () throws(PointerError) in
        var writer = WireWriter(capacity: storage.count + element.storage.count)
        MarshalledValue.begin(&writer, signature)
        var edit = ElementEdit(pointer: pointer, element: element, writer: writer)
        var place = ElementPlace(signature, WireWalker(content))
        try edit.replace(&place, pointer.tokens[...])
        return MarshalledValue(edit.writer)
      }
    }.get()
  }

  /// How many elements the array has; nil if the value is not an array.
  public var arrayCount: Int? {
    withParts { signature, content in
      var place = ElementPlace(signature, WireWalker(content))
      guard place.code == TypeCode.array, let end = try? place.enterArray(), place.code != TypeCode.entry else { return nil }
      if let size = TypeCode.fixedSize(place.code) { return (end - place.walker.position) / size }
      let first = place.index
      var count = 0
      while place.walker.position < end, (try? place.walker.skip(signature, &place.index)) != nil {
        place.index = first
        count += 1
      }
      return count
    }
  }

  /// Whether the value is of the single complete type `signature`.
  fileprivate func isOf(_ signature: UnsafeRawBufferPointer) -> Bool {
    withParts { own, _ in own.elementsEqual(signature) }
  }
}

/// A value within marshalled ones: its type, and where it begins.
private struct ElementPlace {
  var signature: UnsafeRawBufferPointer
  var index = 0
  var walker: WireWalker

  init(_ signature: UnsafeRawBufferPointer, _ walker: WireWalker, index: Int = 0) {
    self.signature = signature
    self.walker = walker
    self.index = index
  }

  var code: UInt8 { index < signature.count ? signature[index] : 0 }

  /// The signature of the one type that the value has.
  var ownSignature: UnsafeRawBufferPointer {
    let end = (try? TypeCode.end(of: index, in: signature)) ?? signature.count
    return UnsafeRawBufferPointer(rebasing: signature[index..<end])
  }

  var type: DBusType { (try? DBusType(String(decoding: ownSignature, as: UTF8.self))) ?? .variant }

  /// Goes to what is below all variants around it.
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
      // Of the members behind it, only the number matters.
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

  /// Goes to the first element, and returns where the last one ends.
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
      return .missing(reason: "the dictionary's keys are of type '\(keyType)', and '\(token)' is not one")
    }
    return .added(key: key)
  }

  /// Whether the text of the key at `walker` is `token`, byte for byte: Swift takes a letter with an accent for the
  /// accented letter.
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

/// The writing of a value anew, with one element replaced.
private struct ElementEdit {
  let pointer: Pointer
  let element: MarshalledValue
  var writer: WireWriter

  /// Writes the value at `place` with the element that `tokens` lead to replaced, and moves behind it.
  mutating func replace(_ place: inout ElementPlace, _ tokens: ArraySlice<String>) throws(PointerError) {
    if place.code == TypeCode.variant {
      if tokens.isEmpty, element.isOf(place.ownSignature) { return try put(over: &place) }
      var inner = place
      guard let text = try? inner.walker.signatureText() else { throw invalid }
      inner.signature = UnsafeRawBufferPointer(rebasing: text[1..<(text.count - 1)])
      inner.index = 0
      writer.take(text, alignment: 1)
      try replace(&inner, tokens)
      place.walker = inner.walker
      place.index += 1
      return
    }
    guard let token = tokens.first else {
      guard element.isOf(place.ownSignature) else { throw mismatch(place.type) }
      return try put(over: &place)
    }
    let rest = tokens.dropFirst()
    switch place.child(token) {
    case .found(let child): try replaceChild(of: &place, child, rest)
    case .appended where rest.isEmpty: try append(to: &place, key: nil)
    case .added(let key) where rest.isEmpty: try append(to: &place, key: key)
    case .appended, .added:
      throw .noSuchElement(pointer, reason: "'\(token)' is not there yet, and so has no elements")
    case .missing(let reason): throw .noSuchElement(pointer, reason: reason)
    }
  }

  private var invalid: PointerError { .noSuchElement(pointer, reason: "the value is not valid") }

  private func mismatch(_ expected: DBusType) -> PointerError {
    .typeMismatch(pointer, TypeMismatch(expected: expected, actual: element.type))
  }

  /// Writes the new element, and passes over the one that it replaces.
  private mutating func put(over place: inout ElementPlace) throws(PointerError) {
    writer.append(element)
    guard (try? place.walker.skip(place.signature, &place.index)) != nil else { throw invalid }
  }

  /// Copies `place` up to `child`, writes that anew, and copies the rest.
  private mutating func replaceChild(
    of place: inout ElementPlace, _ child: ElementPlace, _ tokens: ArraySlice<String>
  ) throws(PointerError) {
    guard place.code == TypeCode.array else {
      writer.align(8)
      guard (try? place.walker.align(8)) != nil else { throw invalid }
      place.index += 1
      try copy(&place, upTo: child)
      try replace(&place, tokens)
      while place.code != TypeCode.structureEnd { try copyNext(&place) }
      place.index += 1
      return
    }
    var inner = place
    guard let end = try? inner.enterArray() else { throw invalid }
    let mark = writer.beginArray(alignment: TypeCode.alignment(inner.code))
    let first = inner.index
    let isDictionary = inner.code == TypeCode.entry
    while inner.walker.position < end {
      inner.index = first
      if isDictionary {
        writer.align(8)
        guard (try? inner.walker.align(8)) != nil else { throw invalid }
        inner.index += 1
        try copyNext(&inner)
      }
      if isAt(child, inner) { try replace(&inner, tokens) } else { try copyNext(&inner) }
    }
    writer.endArray(mark)
    place.walker = inner.walker
    place.index = (try? TypeCode.end(of: place.index, in: place.signature)) ?? place.signature.count
  }

  private func isAt(_ child: ElementPlace, _ place: ElementPlace) -> Bool {
    child.walker.position == place.walker.position
  }

  private mutating func copy(_ place: inout ElementPlace, upTo child: ElementPlace) throws(PointerError) {
    while place.index < child.index { try copyNext(&place) }
  }

  private mutating func copyNext(_ place: inout ElementPlace) throws(PointerError) {
    guard (try? place.walker.copy(place.signature, &place.index, to: &writer)) != nil else { throw invalid }
  }

  /// Copies the array or dictionary at `place`, and writes the new element behind its last.
  private mutating func append(to place: inout ElementPlace, key: DBusValue?) throws(PointerError) {
    var inner = place
    guard let end = try? inner.enterArray() else { throw invalid }
    var target = inner
    if key != nil { target.index += 2 }
    let isVariant = target.code == TypeCode.variant
    guard element.isOf(target.ownSignature) || isVariant else { throw mismatch(target.type) }
    let mark = writer.beginArray(alignment: TypeCode.alignment(inner.code))
    let first = inner.index
    while inner.walker.position < end {
      inner.index = first
      guard key != nil else {
        try copyNext(&inner)
        continue
      }
      writer.align(8)
      guard (try? inner.walker.align(8)) != nil else { throw invalid }
      inner.index += 1
      try copyNext(&inner)
      try copyNext(&inner)
    }
    if let key {
      writer.align(8)
      writer.append(key)
    }
    if element.isOf(target.ownSignature) { writer.append(element) } else { writer.append(variant: element) }
    writer.endArray(mark)
    place.walker = inner.walker
    place.index = (try? TypeCode.end(of: place.index, in: place.signature)) ?? place.signature.count
  }
}
