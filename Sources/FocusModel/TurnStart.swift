internal import DBusTypes
internal import FocusContract

/// What was there when a turn began, so that what it has changed can be taken back.
struct TurnStart {
  /// The fields that the turn has changed.
  var before = Before()
  /// What bound fields showed of names that their owners have changed in this turn.
  private(set) var shown: [FieldID: [Key: ShownMember]] = [:]
  private(set) var focus = Focus()
  /// The fields whose processes were told in this turn, which are no part of it.
  private(set) var processes: Set<FieldID> = []
  /// What was published of focus, if that has changed since.
  private var published: (focus: Focus, scenes: [FieldID])?
  /// What `focused` has shown otherwise since, first to last.
  private var differences: DifferencesByInterface = []
  /// What was published of session-scoped fields and has changed since, by interface.
  private var suppliers: [InterfaceName: FieldID?] = [:]

  /// Begins a turn.
  mutating func begin(_ focus: Focus) {
    before.removeAll()
    if !shown.isEmpty { shown.removeAll(keepingCapacity: true) }
    if !processes.isEmpty { processes.removeAll() }
    if !suppliers.isEmpty { suppliers.removeAll() }
    if !differences.isEmpty { differences.removeAll(keepingCapacity: differences.count < 64) }
    published = nil
    self.focus = focus
  }

  /// Remembers what was published of focus, before that is changed.
  mutating func keep(_ focus: Focus, _ scenes: [FieldID]) {
    if published == nil { published = (focus, scenes) }
  }

  /// Remembers that the processes of the fields `ids` are told.
  mutating func keep(processesOf ids: Set<FieldID>) {
    if !ids.isEmpty { processes.formUnion(ids) }
  }

  /// Remembers what `focused` shows otherwise from now on.
  mutating func keep(_ differences: DifferencesByInterface) { self.differences += differences }

  /// Remembers which session-scoped field supplied `interface`, before another does.
  mutating func keep(_ supplier: FieldID?, suppliedOf interface: InterfaceName) {
    if suppliers[interface] == nil { suppliers.updateValue(supplier, forKey: interface) }
  }

  /// Remembers what `field` shows of `keys`, before its owner's changes are taken in.
  mutating func keep(_ keys: some Sequence<Key>, shownBy field: Field) {
    let began = before.fields[field.id] ?? field
    guard let began, began.registration == field.registration else { return }
    for key in keys where shown[field.id]?[key] == nil { shown[field.id, default: [:]][key] = began.shown(key) }
  }

  /// Remembers what the object of `field` has told by now, which a roll-back keeps.
  mutating func keep(toldBy field: Field) {
    guard var began = before.fields[field.id] ?? nil, began.registration == field.registration, let old = began.object
    else { return }
    began.parts.object = field.object?.with(disabled: old.disabled)
    began.bindings = began.bindings.filter { !$0.value.isBound }
      .merging(field.bindings.filter { $0.value.isBound }) { stored, _ in stored }
    before.replace(began)
  }

  /// Makes `present` what was published when the turn began.
  func restore(_ present: inout FocusModel.Published) {
    if let published { (present.focus, present.scenes) = published }
    for (interface, names) in differences.reversed() {
      present.show(names.map { ShownDifference(key: $0.key, before: $0.after, after: $0.before) }, of: interface)
    }
    for (interface, supplier) in suppliers { present.suppliers[interface] = supplier }
  }
}
