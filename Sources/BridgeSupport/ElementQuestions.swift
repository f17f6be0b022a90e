package import DBus
internal import DBusTypes

/// What any accessible object is asked, with answers of the types that AT-SPI's interface *Accessible* has.
extension ProgramBus {
  package typealias Handler<Value> = (Result<Value, DBusError>) -> Void

  package func states(
    of element: ElementReference, timeout: Duration = questionTimeout, _ handler: @escaping Handler<ElementStates>
  ) {
    ask(element, "GetState", timeout, handler) { ElementStates($0) }
  }

  /// Asks for the number of the role: `AtspiRole`.
  package func role(
    of element: ElementReference, timeout: Duration = questionTimeout, _ handler: @escaping Handler<UInt32>
  ) {
    ask(element, "GetRole", timeout, handler) { if case .uint32(let number)? = $0 { number } else { nil } }
  }

  /// Asks for what contains the element; nil if nothing does.
  package func parent(of element: ElementReference, _ handler: @escaping Handler<ElementReference?>) {
    get(element, AccessibilityNames.accessible, "Parent") { handler($0.map { ElementReference($0) }) }
  }

  /// Asks for the children, and hands over the first `limit`.
  package func children(
    of element: ElementReference, atMost limit: Int, timeout: Duration = questionTimeout,
    _ handler: @escaping Handler<[ElementReference]>
  ) {
    ask(element, "GetChildren", timeout, handler) { answer in
      guard case .array(let children)? = answer else { return nil }
      return children.prefix(limit).compactMap { ElementReference($0) }
    }
  }

  private func ask<Value>(
    _ element: ElementReference, _ member: String, _ timeout: Duration, _ handler: @escaping Handler<Value>,
    _ read: @escaping (DBusValue?) -> Value?
  ) {
    ask(element, member, timeout: timeout) { answer in
      handler(answer.flatMap { read($0.first).map { .success($0) } ?? .failure(.wrongAnswer) })
    }
  }
}

extension DBusError {
  /// The program answered something of another type than the interface has.
  package static let wrongAnswer = DBusError(.failed, "the program's answer has the wrong type")
}
