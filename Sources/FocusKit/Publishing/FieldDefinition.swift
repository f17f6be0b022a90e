internal import Synchronization

/// A field as the program described it.
struct FieldDefinition: Sendable {
  /// How a field is joined to a focus state.
  struct Focus: Sendable {
    /// Whether the state says that the field has focus.
    let isWanted: @Sendable () -> Bool
    /// Has the state say whether the field has focus, unless the program changed it and the worker does not know yet.
    let set: @Sendable (_ isFocused: Bool) -> Void
    /// Has the sink called after each change of the state, until the result is called.
    let follow: @Sendable (@escaping @Sendable () -> Void) -> @Sendable () -> Void
    /// Says that the worker knows of one more change of which the sink was told.
    let acknowledge: @Sendable () -> Void

    /// Joins a field to `storage`, which is `focused` while the field has focus; what it is afterwards is `unfocused`.
    init<Value: Equatable & Sendable>(_ storage: Storage<Value>, _ focused: Value, _ unfocused: Value) {
      let unknown = Unknown()
      isWanted = { storage.get() == focused }
      set = { isFocused in
        storage.modify(Transaction()) { value in
          guard unknown.changes.load(ordering: .acquiring) == 0 else { return }
          if isFocused { value = focused } else if value == focused { value = unfocused }
        }
      }
      follow = { sink in
        let cancel = storage.follow { _ in
          unknown.changes.add(1, ordering: .acquiringAndReleasing)
          sink()
        }
        return cancel ?? {}
      }
      acknowledge = { unknown.changes.subtract(1, ordering: .acquiringAndReleasing) }
    }
  }

  /// How many changes of a focus state the worker has still to see.
  private final class Unknown: Sendable { let changes = Atomic(0) }

  let number: UInt64
  let id: String
  let label: String?
  let parent: UInt64?
  var values: [Publication] = []
  var sceneValues: [Publication] = []
  var focus: Focus?
  var isSensitive = false
}
