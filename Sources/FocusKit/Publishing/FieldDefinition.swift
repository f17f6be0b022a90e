internal import Synchronization

/// A field as the program described it.
struct FieldDefinition: Sendable {
  /// How a field is joined to a focus state.
  struct Focus: Sendable {
    /// Which state it is.
    let state: ObjectIdentifier
    /// Whether the state says that the field has focus.
    let isWanted: @Sendable () -> Bool
    /// Has the state say whether the field has focus, unless the program changed it and the worker does not know yet.
    let set: @Sendable (_ isFocused: Bool) -> Void
    /// Has the sink called after a change of the state that the worker does not know, until the result is called.
    let follow: @Sendable (@escaping @Sendable () -> Void) -> @Sendable () -> Void
    /// Says that the worker knows the state as it is now; the sink is called after the next change.
    let acknowledge: @Sendable () -> Void

    /// Joins a field to `storage`, which is `focused` while the field has focus; what it is afterwards is `unfocused`.
    init<Value: Equatable & Sendable>(_ storage: Storage<Value>, _ focused: Value, _ unfocused: Value) {
      let known = Known()
      state = ObjectIdentifier(storage)
      isWanted = { storage.get() == focused }
      set = { isFocused in
        let version = known.version.load(ordering: .acquiring)
        let value = storage.get()
        guard isFocused ? value != focused : value == focused else { return }
        if storage.replace(isFocused ? focused : unfocused, ifVersion: version) {
          known.version.store(version + 1, ordering: .releasing)
        }
      }
      follow = { sink in
        let cancel = storage.follow(withCurrent: true) { _ in
          if !known.isTold.exchange(true, ordering: .acquiringAndReleasing) { sink() }
        }
        return cancel ?? {}
      }
      acknowledge = {
        known.isTold.store(false, ordering: .releasing)
        known.version.store(storage.version, ordering: .releasing)
      }
    }
  }

  /// Which version of a focus state the worker knows, and whether it was told of a newer one.
  private final class Known: Sendable {
    let version = Atomic<UInt64>(0)
    let isTold = Atomic(false)
  }

  let number: UInt64
  let id: String
  let label: String?
  let parent: UInt64?
  var values: [Publication] = []
  var sceneValues: [Publication] = []
  var focus: Focus?
  /// The commands that are off.
  var disabled: Set<String> = []
  var isSensitive = false
  var isRegistered = false

  /// Publishes values in place of those that there are for the same keys.
  mutating func publish(_ publications: [Publication], _ values: WritableKeyPath<FieldDefinition, [Publication]>) {
    self[keyPath: values].removeAll { former in publications.contains { $0.name == former.name } }
    self[keyPath: values] += publications.filter(\.isAnything)
  }
}
