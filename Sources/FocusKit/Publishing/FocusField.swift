internal import DBus
internal import DBusTypes
internal import DaemonClient
internal import EventLoop
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

  /// Describes a field with the id `id`, which the daemon picks if it is empty, within `parent`, which must be registered
  /// before it, or as a scene; of `client`, which for nil is its parent's, or ``FocusClient/shared``.
  public init(_ id: String = "", label: String? = nil, parent: FocusField? = nil, client: FocusClient? = nil) {
    self.client = client ?? parent?.client ?? .shared
    self.parent = parent
    number = Self.nextNumber()
    draft = Locked(FieldDefinition(number: number, id: id, label: label, parent: parent?.number))
  }

  deinit { remove(isLetGo: true) }

  /// The field's id, the last element of its object path; nil until ``registered()`` if the daemon picks it.
  public var id: String? {
    let id = draft.withLock { $0.id }
    return id.isEmpty ? picked.withLock { $0 } : id
  }

  private func add(_ publications: [Publication], toScene: Bool = false) {
    change {
      $0.publish(publications, toScene ? \.sceneValues : \.values)
    } later: { worker, definition in
      worker.publish(publications, toScene: toScene, of: definition)
    }
  }

  /// Describes more of the field; `later` tells the worker if that has been asked to register it.
  private func change(
    _ change: (inout FieldDefinition) -> Void, later: @escaping @Sendable (Worker, FieldDefinition) -> Void
  ) {
    // What is posted under the lock is in the order of the changes; closures that are replaced are freed outside of it.
    let former = draft.withLock { draft in
      let former = draft
      change(&draft)
      if draft.isRegistered { client.post { [definition = draft] in later($0, definition) } }
      return former
    }
    withExtendedLifetime(former) {}
  }

  private func join(_ focus: FieldDefinition.Focus) -> FocusField {
    change {
      $0.focus = focus
    } later: { worker, definition in
      worker.join(focus, number: definition.number)
    }
    return self
  }

  /// Publishes `value` while the field is on the focus path; nil takes away what the field published for the key.
  @discardableResult
  public func focusedValue<Value>(_ keyPath: WritableKeyPath<FocusedValues, Value?>, _ value: Value?) -> FocusField {
    add(FocusedValues.publications(keyPath, value))
    return self
  }

  /// Publishes `value` while the field is on the focus path, in place of what it published for the key before.
  @discardableResult
  public func focusedValue<Value>(_ keyPath: WritableKeyPath<FocusedValues, Value?>, _ value: Value) -> FocusField {
    add(FocusedValues.publications(keyPath, value))
    return self
  }

  /// Publishes a binding whose writes from elsewhere `validate` may refuse by throwing a ``FocusError``, in words of its own.
  ///
  /// It runs where the binding's closures do; of a binding of the main actor, it reads what belongs to that in
  /// `try MainActor.assumeIsolated { … }`.
  @discardableResult
  public func focusedValue<Value: DBusRepresentable>(
    _ keyPath: WritableKeyPath<FocusedValues, Binding<Value>?>, _ binding: Binding<Value>,
    validate: @escaping @Sendable (Value) throws -> Void
  ) -> FocusField {
    add(FocusedValues.publications(keyPath, binding).map { $0.replaced(by: binding, validate) })
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

  /// Publishes `value` wherever focus is within the field's scene; nil takes away what the field published for the key.
  @discardableResult
  public func focusedSceneValue<Value>(_ keyPath: WritableKeyPath<FocusedValues, Value?>, _ value: Value?) -> FocusField
  {
    add(FocusedValues.publications(keyPath, value), toScene: true)
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
  ///
  /// Its caller waits for 5 seconds: start a task for what takes longer. It is told a ``FocusError`` that `run` throws in the
  /// error's own words, another one as its description.
  @discardableResult
  public func command<each Argument: DBusRepresentable, Output: DBusRepresentable>(
    _ name: String, _ run: @escaping @Sendable (repeat each Argument) async throws -> Output
  ) -> FocusField {
    add([Publication(name, .command(.init(run, [Output.dbusType]) { [try $0.dbusValue()] }))])
    return self
  }

  /// Publishes the command `name`, `INTERFACE.Member`, with arguments.
  ///
  /// Its caller waits for 5 seconds: start a task for what takes longer. It is told a ``FocusError`` that `run` throws in the
  /// error's own words, another one as its description.
  @discardableResult
  public func command<each Argument: DBusRepresentable>(
    _ name: String, _ run: @escaping @Sendable (repeat each Argument) async throws -> Void
  ) -> FocusField {
    add([Publication(name, .command(.init(run, []) { _ in [] }))])
    return self
  }

  /// Joins the field to a focus state: `state` is `value` while the field has focus, and the field takes focus when the
  /// state becomes that; also when another program asks for it.
  ///
  /// A field has one such state: the last that it is joined to.
  @discardableResult
  public func focused<Value>(_ state: FocusState<Value?>.Binding, equals value: Value) -> FocusField {
    join(FieldDefinition.Focus(state.storage, value, nil))
  }

  /// Joins the field to a focus state that is true while the field has focus, in place of any other state.
  @discardableResult
  public func focused(_ state: FocusState<Bool>.Binding) -> FocusField {
    join(FieldDefinition.Focus(state.storage, true, false))
  }

  /// Hides the field's values from other programs; they may still write them, as a password manager does.
  ///
  /// Call it before ``register()``: later it changes nothing, and the client's error handler is told.
  @discardableResult
  public func privacySensitive(_ isSensitive: Bool = true) -> FocusField {
    let isRegistered = draft.withLock { draft in
      if !draft.isRegistered { draft.isSensitive = isSensitive }
      return draft.isRegistered
    }
    if isRegistered {
      client.report(
        FocusError("the field '\(id ?? "")' is as sensitive as before: call 'privacySensitive()' before 'register()'"))
    }
    return self
  }

  /// Registers the field, now and whenever the daemon comes back, as long as the result is kept; a refusal goes to the
  /// client's error handler.
  ///
  /// What is published afterwards is published then.
  public func register() -> FocusField {
    let wait = Self.nextNumber()
    draft.withLock { draft in
      draft.isRegistered = true
      client.post { [weak self, definition = draft] worker in
        worker.add(definition)
        worker.fields.whenRegistered(definition.number, id: wait) { [weak self] in self?.learn($0) }
      }
    }
    return self
  }

  private func learn(_ result: Result<ObjectPath, DBusError>) {
    if case .success(let path) = result { picked.withLock { $0 = FieldID(path)?.text } }
  }

  /// Waits until the daemon knows the field and its scene values; if no daemon runs, until one starts and knows them.
  /// - Throws: `FocusError` if the daemon refuses the field; `CancellationError`.
  nonisolated(nonsending) public func registered() async throws {
    _ = try await path(of: number)
    try await sceneValuesRegistered()
  }

  private nonisolated(nonsending) func sceneValuesRegistered() async throws {
    let hasSceneValues = draft.withLock { $0.sceneValues.contains(where: \.isAnything) }
    if hasSceneValues { _ = try await path(of: FieldExport.sceneNumber(number)) }
  }

  private nonisolated(nonsending) func path(of number: UInt64) async throws -> ObjectPath {
    let (wait, answer) = (Self.nextNumber(), Answer<ObjectPath>())
    client.post { worker in
      worker.fields.whenRegistered(number, id: wait) {
        answer.resume(with: $0.mapError { FocusError($0) as any Error })
      }
    }
    do {
      let path = try await answer.value()
      // What was registered late, since it could not be saved at first, was learned by nobody.
      if number == self.number { learn(.success(path)) }
      return path
    } catch let error as CancellationError {
      client.post { $0.fields.stopWaiting(number, id: wait) }
      throw error
    }
  }

  /// Moves focus to the field, when it is registered.
  /// - Throws: `FocusError`; `CancellationError`.
  nonisolated(nonsending) public func focus() async throws {
    let path = try await path(of: number)
    // Others find its scene values when they have focus; if those are refused, focus moves all the same.
    do { try await sceneValuesRegistered() } catch is FocusError {}
    try await client.call(.field(path, "Focus"))
  }

  /// Gives focus up, to the field's parent or to nothing; a field without focus does nothing.
  /// - Throws: `FocusError`; `CancellationError`.
  nonisolated(nonsending) public func blur() async throws { try await client.call(.field(path(of: number), "Blur")) }

  /// Turns the command `name` on or off, as a menu item greys out; it stays so, also when the daemon comes back.
  ///
  /// Before ``register()`` it is declared and returns at once, later it waits for the daemon.
  /// - Throws: `FocusError`; `CancellationError`.
  nonisolated(nonsending) public func setEnabled(_ name: String, _ isEnabled: Bool) async throws {
    let definition = draft.withLock { draft in
      if isEnabled { draft.disabled.remove(name) } else { draft.disabled.insert(name) }
      if draft.isRegistered, let key = try? Key(name) {
        client.post { [number = draft.number] in
          $0.fields.declareCommand(key, isEnabled: isEnabled, group: number)
        }
      }
      return draft
    }
    guard definition.isRegistered else { return }
    let isOfScene = definition.sceneValues.contains { $0.name == name }
    if isOfScene { try await setEnabled(name, isEnabled, ofField: FieldExport.sceneNumber(number)) }
    // One that is not published at all is refused by the daemon.
    if !isOfScene || definition.values.contains(where: { $0.name == name }) {
      try await setEnabled(name, isEnabled, ofField: number)
    }
  }

  nonisolated(nonsending) private func setEnabled(_ name: String, _ isEnabled: Bool, ofField number: UInt64)
    async throws
  {
    let path = try await path(of: number)
    // A command that was just published is unknown until the daemon has looked.
    let isKnown = Answer<Void>()
    client.post { $0.fields.whenExamined(number) { isKnown.resume(with: .success(())) } }
    try await isKnown.value()
    try await client.call(.setEnabled([name: isEnabled], at: path))
  }

  /// Turns the command at `keyPath` on or off, as a menu item greys out; it stays so, also when the daemon comes back.
  ///
  /// Before ``register()`` it is declared and returns at once, later it waits for the daemon.
  /// - Throws: `FocusError`; `CancellationError`.
  nonisolated(nonsending) public func setEnabled<Value>(_ keyPath: KeyPath<FocusedValues, Value?>, _ isEnabled: Bool)
    async throws
  {
    try await setEnabled(try FocusClient.name(keyPath), isEnabled)
  }

  /// Takes the field away before the object goes.
  public func unregister() { remove(isLetGo: false) }

  private func remove(isLetGo: Bool) {
    // Nobody need connect for a field that was never registered.
    guard draft.withLock({ $0.isRegistered }) else { return }
    client.post { [number] in $0.remove(number, isLetGo: isLetGo) }
  }
}
