internal import DBus
internal import DBusTypes
internal import EventLoop
internal import FocusClient
internal import FocusContract
internal import Synchronization

/// Something of this program that can hold focus, and what it publishes while it does: SwiftUI's focusable view.
///
/// ```swift
/// let field = FocusField("text1", label: "First")
///   .focusedValue(\.number, $number)
///   .focused($focus, equals: .first)
///   .register()
/// ```
///
/// The program's own state stays the source of truth. The field is registered until it is let go of, also when the bus or
/// the daemon comes back.
public final class FocusField: Sendable {
  private let client: FocusClient
  private let parent: FocusField?
  private let draft: Locked<FieldDefinition>
  let number: UInt64
  /// The id that the daemon picked.
  private let picked = Locked<String?>(nil)

  private static let lastNumber = Atomic<UInt64>(0)

  private static func nextNumber() -> UInt64 { lastNumber.add(1, ordering: .relaxed).newValue }

  /// Describes a field with the id `id`, which the daemon picks if it is empty, within `parent`, or as a scene.
  public init(_ id: String = "", label: String? = nil, parent: FocusField? = nil, client: FocusClient = .shared) {
    self.client = client
    self.parent = parent
    number = Self.nextNumber()
    draft = Locked(FieldDefinition(number: number, id: id, label: label, parent: parent?.number))
  }

  deinit {
    let number = number
    client.post { $0.remove(number, isLetGo: true) }
  }

  /// The field's id, the last element of its object path; nil until ``registered()`` if the daemon picks it.
  public var id: String? {
    let id = draft.withLock { $0.id }
    return id.isEmpty ? picked.withLock { $0 } : id
  }

  private func add(_ publications: [Publication], toScene: Bool = false) {
    change("'\(publications.first?.name ?? "")' is not published") { draft in
      if toScene { draft.sceneValues += publications } else { draft.values += publications }
    }
  }

  /// Describes more of the field, until it is registered.
  private func change(_ refusal: String, _ change: (inout FieldDefinition) -> Void) {
    let isRegistered = draft.withLock { draft in
      if !draft.isRegistered { change(&draft) }
      return draft.isRegistered
    }
    guard isRegistered else { return }
    let id = draft.withLock { $0.label ?? $0.id }
    client.report(FocusError("\(refusal): the field '\(id)' was registered before; call 'register()' last"))
  }

  /// Publishes `value`, or nothing if it is nil, while the field is on the focus path.
  @discardableResult
  public func focusedValue<Value>(_ keyPath: WritableKeyPath<FocusedValues, Value?>, _ value: Value?) -> FocusField {
    if let value { add(FocusedValues.publications(keyPath, value)) }
    return self
  }

  /// Publishes `value`, or nothing if it is nil, while the field is on the focus path.
  @discardableResult
  public func focusedValue<Value>(_ keyPath: WritableKeyPath<FocusedValues, Value?>, _ value: Value) -> FocusField {
    add(FocusedValues.publications(keyPath, value))
    return self
  }

  /// Publishes a binding whose writes from elsewhere `validate` may refuse by throwing, in words of its own.
  @discardableResult
  public func focusedValue<Value: DBusRepresentable>(
    _ keyPath: WritableKeyPath<FocusedValues, Binding<Value>?>, _ binding: Binding<Value>,
    validate: @escaping @Sendable (Value) throws -> Void
  ) -> FocusField {
    add(
      FocusedValues.publications(keyPath, binding).map { publication in
        publication.replaced(by: binding.published(validate))
      })
    return self
  }

  /// Publishes what `binding` holds, now and after each change, for others to read and not to write.
  @discardableResult
  public func focusedValue<Value: DBusRepresentable>(
    _ keyPath: WritableKeyPath<FocusedValues, Value?>, _ binding: Binding<Value>
  ) -> FocusField {
    add(FocusedValues.publications(keyPath, binding))
    return self
  }

  /// Publishes what `binding` holds, for others to read and not to write, wherever focus is within the field's scene.
  @discardableResult
  public func focusedSceneValue<Value: DBusRepresentable>(
    _ keyPath: WritableKeyPath<FocusedValues, Value?>, _ binding: Binding<Value>
  ) -> FocusField {
    add(FocusedValues.publications(keyPath, binding), toScene: true)
    return self
  }

  /// Publishes `value`, or nothing if it is nil, wherever focus is within the field's scene.
  @discardableResult
  public func focusedSceneValue<Value>(_ keyPath: WritableKeyPath<FocusedValues, Value?>, _ value: Value?) -> FocusField
  {
    if let value { add(FocusedValues.publications(keyPath, value), toScene: true) }
    return self
  }

  /// Publishes `value` wherever focus is within the field's scene.
  @discardableResult
  public func focusedSceneValue<Value>(_ keyPath: WritableKeyPath<FocusedValues, Value?>, _ value: Value) -> FocusField
  {
    add(FocusedValues.publications(keyPath, value), toScene: true)
    return self
  }

  /// Publishes the command `name`, `INTERFACE.Member`, with arguments and a result.
  @discardableResult
  public func command<each Argument: DBusRepresentable, Output: DBusRepresentable>(
    _ name: String, _ run: @escaping @Sendable (repeat each Argument) async throws -> Output
  ) -> FocusField {
    add([Publication(name, .command(.init(run, [Output.dbusType]) { [try $0.dbusValue()] }))])
    return self
  }

  /// Publishes the command `name`, `INTERFACE.Member`, with arguments.
  @discardableResult
  public func command<each Argument: DBusRepresentable>(
    _ name: String, _ run: @escaping @Sendable (repeat each Argument) async throws -> Void
  ) -> FocusField {
    add([Publication(name, .command(.init(run, []) { _ in [] }))])
    return self
  }

  /// Joins the field to a focus state: `state` is `value` while the field has focus, and the field takes focus when the
  /// state becomes that; also when another program asks for it.
  @discardableResult
  public func focused<Value>(_ state: FocusState<Value?>.Binding, equals value: Value) -> FocusField {
    change("the focus state is not joined") { $0.focus = FieldDefinition.Focus(state.storage, value, nil) }
    return self
  }

  /// Joins the field to a focus state that is true while the field has focus.
  @discardableResult
  public func focused(_ state: FocusState<Bool>.Binding) -> FocusField {
    change("the focus state is not joined") { $0.focus = FieldDefinition.Focus(state.storage, true, false) }
    return self
  }

  /// Hides the field's values from other programs; they may still write them, as a password manager does.
  @discardableResult
  public func privacySensitive(_ isSensitive: Bool = true) -> FocusField {
    change("the field is as sensitive as before") { $0.isSensitive = isSensitive }
    return self
  }

  /// Registers the field, now and whenever the daemon comes back, as long as the result is kept; a refusal goes to the
  /// client's error handler, and so does what is declared afterwards.
  public func register() -> FocusField {
    let definition = draft.withLock { draft in
      draft.isRegistered = true
      return draft
    }
    let wait = Self.nextNumber()
    client.post { [weak self] worker in
      worker.add(definition)
      worker.fields.whenRegistered(definition.number, id: wait) { [weak self] in self?.learn($0) }
    }
    return self
  }

  private func learn(_ result: Result<ObjectPath, DBusError>) {
    if case .success(let path) = result { picked.withLock { $0 = FieldID(path)?.text } }
  }

  /// Waits until the daemon knows the field.
  /// - Throws: `FocusError` if the daemon refuses the field; `CancellationError`.
  nonisolated(nonsending) public func registered() async throws { _ = try await path() }

  private func path() async throws -> ObjectPath {
    let (number, wait, answer) = (number, Self.nextNumber(), Answer<ObjectPath>())
    client.post { worker in
      worker.fields.whenRegistered(number, id: wait) {
        answer.resume(with: $0.mapError { FocusError($0) as any Error })
      }
    }
    do {
      return try await answer.value()
    } catch let error as CancellationError {
      client.post { $0.fields.stopWaiting(number, id: wait) }
      throw error
    }
  }

  /// Moves focus to the field.
  /// - Throws: `FocusError`.
  nonisolated(nonsending) public func focus() async throws { try await client.call(.field(path(), "Focus")) }

  /// Gives focus up, to the field's parent or to nothing; a field without focus does nothing.
  /// - Throws: `FocusError`.
  nonisolated(nonsending) public func blur() async throws { try await client.call(.field(path(), "Blur")) }

  /// Turns the command `name` on or off, as a menu item greys out.
  /// - Throws: `FocusError`.
  nonisolated(nonsending) public func setEnabled(_ name: String, _ isEnabled: Bool) async throws {
    try await client.call(.setEnabled([name: isEnabled], at: path()))
  }

  /// Turns the command at `keyPath` on or off, as a menu item greys out.
  /// - Throws: `FocusError`.
  nonisolated(nonsending) public func setEnabled<Value>(_ keyPath: KeyPath<FocusedValues, Value?>, _ isEnabled: Bool)
    async throws
  {
    guard let name = FocusedValues.name(of: keyPath) else {
      throw FocusError("the property of 'FocusedValues' must get and set one key: 'self[Key.self]'")
    }
    try await setEnabled(name, isEnabled)
  }

  /// Takes the field away before the object goes.
  public func unregister() {
    let number = number
    client.post { $0.remove(number) }
  }
}

extension PublishedCommand {
  /// A closure that takes its arguments one by one from what came over the bus.
  init<each Argument: DBusRepresentable, Output>(
    _ body: @escaping @Sendable (repeat each Argument) async throws -> Output, _ output: [DBusType],
    _ results: @escaping @Sendable (Output) throws -> [DBusValue]
  ) {
    var input: [DBusType] = []
    repeat input.append((each Argument).dbusType)
    self.input = input
    self.output = output
    run = { values in
      var arguments = ArgumentReader(values)
      let output = try await body(repeat try arguments.next((each Argument).self))
      return try results(output)
    }
  }
}

/// The arguments of a call, one after another.
private struct ArgumentReader {
  private var values: [DBusValue].Iterator

  init(_ values: [DBusValue]) { self.values = values.makeIterator() }

  mutating func next<Argument: DBusRepresentable>(_ type: Argument.Type) throws -> Argument {
    guard let value = values.next() else {
      throw FocusError("the command takes more arguments", name: "org.freedesktop.DBus.Error.InvalidArgs")
    }
    return try Argument(dbusValue: value)
  }
}
