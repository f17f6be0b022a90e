/// Elements of marshalled values: everything off the path to the element is copied, not decoded.
extension MarshalledValue {
  /// The element at `pointer`; if it is in a variant, the variant's content.
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
          case .appended: throw .noSuchElement(pointer, reason: "'-' is where a write appends an element")
          case .added: throw .noSuchElement(pointer, reason: "the dictionary has no entry '\(token.excerpt)'")
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
  /// In a variant, a value of the content's type replaces the content, and a variant replaces it regardless of its content.
  /// A number of another type is converted if nothing is lost.
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
      guard place.code == TypeCode.array, let end = try? place.enterArray(), place.code != TypeCode.entry else {
        return nil
      }
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

/// Rewrites a value with one element replaced.
private struct ElementEdit: ~Copyable {
  let pointer: Pointer
  let element: MarshalledValue
  var writer: WireWriter

  /// Writes the value at `place` with the element at `tokens` replaced, and moves past it.
  mutating func replace(_ place: inout ElementPlace, _ tokens: ArraySlice<String>) throws(PointerError) {
    if place.code == TypeCode.variant {
      if tokens.isEmpty, element.isOf(place.ownSignature) { return try put(element, over: &place) }
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
      return try put(fitting(place), over: &place)
    }
    let rest = tokens.dropFirst()
    switch place.child(token) {
    case .found(let child): try replaceChild(of: &place, child, rest)
    case .appended where rest.isEmpty: try append(to: &place, key: nil)
    case .added(let key) where rest.isEmpty: try append(to: &place, key: key)
    case .appended, .added:
      throw .noSuchElement(pointer, reason: "'\(token.excerpt)' does not exist yet, so it has no elements")
    case .missing(let reason): throw .noSuchElement(pointer, reason: reason)
    }
  }

  private var invalid: PointerError { .noSuchElement(pointer, reason: "the value is not valid") }

  /// The new element as a value of the type at `place`: a number may be given as one of another type.
  private func fitting(_ place: ElementPlace) throws(PointerError) -> MarshalledValue {
    if element.isOf(place.ownSignature) { return element }
    let type = place.type
    guard let number = element.converted(to: type) else {
      throw .typeMismatch(pointer, TypeMismatch(expected: type, actual: element.type))
    }
    return number
  }

  /// Writes `element`, and skips the replaced one.
  private mutating func put(_ element: MarshalledValue, over place: inout ElementPlace) throws(PointerError) {
    writer.append(element)
    guard (try? place.walker.skip(place.signature, &place.index)) != nil else { throw invalid }
  }

  /// Copies `place` up to `child`, rewrites the child, and copies the rest.
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
      if isAt(child, inner) {
        try replace(&inner, tokens)
      } else if isDictionary {
        try copyNext(&inner)
      } else {
        try copyRun(&inner, upTo: inner.walker.position < child.walker.position ? child.walker.position : end)
      }
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

  /// Copies elements of an array: up to `end` if they are of a fixed size, else the next one.
  private mutating func copyRun(_ place: inout ElementPlace, upTo end: Int) throws(PointerError) {
    guard let size = TypeCode.fixedSize(place.code) else { return try copyNext(&place) }
    guard let bytes = try? place.walker.take(end - place.walker.position, alignment: size) else { throw invalid }
    writer.take(bytes, alignment: size)
  }

  /// Copies the array or dictionary at `place`, and writes the new element after its last.
  private mutating func append(to place: inout ElementPlace, key: DBusValue?) throws(PointerError) {
    var inner = place
    guard let end = try? inner.enterArray() else { throw invalid }
    var target = inner
    if key != nil { target.index += 2 }
    let isInVariant = target.code == TypeCode.variant && !element.isOf(target.ownSignature)
    let element = isInVariant ? element : try fitting(target)
    let mark = writer.beginArray(alignment: TypeCode.alignment(inner.code))
    let first = inner.index
    while inner.walker.position < end {
      inner.index = first
      guard key != nil else {
        try copyRun(&inner, upTo: end)
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
    if isInVariant { writer.append(variant: element) } else { writer.append(element) }
    writer.endArray(mark)
    place.walker = inner.walker
    place.index = (try? TypeCode.end(of: place.index, in: place.signature)) ?? place.signature.count
  }
}
