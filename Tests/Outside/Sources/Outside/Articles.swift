import FocusKit

// The articles' declarations as they are.

struct MyIntDataBinding: FocusedValueKey {
  typealias Value = Binding<Int>
}

struct FocusedNoteKey: FocusedValueKey {
  typealias Value = String
}

private struct SelectedTodoKey: FocusedValueKey {
  typealias Value = Binding<Todo>
}

struct SaveActionKey: FocusedValueKey {
  typealias Value = () -> Void
}

struct DeleteActionKey: FocusedValueKey {
  typealias Value = @MainActor () -> Void
}

struct SyncActionKey: FocusedValueKey {
  typealias Value = @Sendable () async throws -> Void
}

enum Flavor: String, CaseIterable, Identifiable, Codable, DBusRepresentable {
  case chocolate
  case vanilla
  case strawberry

  var id: Self { self }
}

struct Todo: Identifiable, Hashable, Codable, DBusRepresentable {
  var id = 1
  var description: String
  var done = false
}

struct FlavorKey: FocusedValueKey {
  typealias Value = Binding<Flavor>
}

struct NicknameKey: FocusedValueKey {
  typealias Value = Binding<String?>
}

struct TodosKey: FocusedValueKey {
  typealias Value = Binding<[Todo]>
}

final class Document: Sendable { let title = "document" }

struct DocumentKey: FocusedValueKey {
  typealias Value = Document
}

extension FocusedValues {
  var myIntDataBinding: MyIntDataBinding.Value? {
    get { self[MyIntDataBinding.self] }
    set { self[MyIntDataBinding.self] = newValue }
  }
  var note: FocusedNoteKey.Value? {
    get { self[FocusedNoteKey.self] }
    set { self[FocusedNoteKey.self] = newValue }
  }
  var selectedTodo: Binding<Todo>? {
    get { self[SelectedTodoKey.self] }
    set { self[SelectedTodoKey.self] = newValue }
  }
  var save: (() -> Void)? {
    get { self[SaveActionKey.self] }
    set { self[SaveActionKey.self] = newValue }
  }
  var delete: DeleteActionKey.Value? {
    get { self[DeleteActionKey.self] }
    set { self[DeleteActionKey.self] = newValue }
  }
  var sync: SyncActionKey.Value? {
    get { self[SyncActionKey.self] }
    set { self[SyncActionKey.self] = newValue }
  }
  var flavor: Binding<Flavor>? {
    get { self[FlavorKey.self] }
    set { self[FlavorKey.self] = newValue }
  }
  var nickname: Binding<String?>? {
    get { self[NicknameKey.self] }
    set { self[NicknameKey.self] = newValue }
  }
  var todos: Binding<[Todo]>? {
    get { self[TodosKey.self] }
    set { self[TodosKey.self] = newValue }
  }
  var document: Document? {
    get { self[DocumentKey.self] }
    set { self[DocumentKey.self] = newValue }
  }
  var hasDocument: Bool { document != nil }
}

/// The unrelated view.
struct SetView {
  @FocusedBinding(\.myIntDataBinding) var myBinding
  @FocusedBinding(\.myIntDataBinding) private var typed: Int?
  @FocusedValue(\.note) var note
  @FocusedValue(\.note) var typedNote: String?
  @FocusedValue(\.save) var save
  @FocusedValue(\.delete) var delete
  @FocusedValue(\.sync) var sync
  @FocusedValue(\.myIntDataBinding) var asBinding: Binding<Int>?
  @FocusedBinding(\.nickname) var nickname: String??
  @FocusedBinding(\.flavor) var flavor
  @FocusedBinding(\.selectedTodo) var todo
  @FocusedBinding(\.todos) var todos
  @FocusedValue(\.document) var document

  var isDisabled: Bool { myBinding == nil || save == nil || document?.title == nil }

  func change() {
    myBinding? *= 8
    if let value = myBinding { myBinding = value * 2 }
    myBinding = nil
    $myBinding.wrappedValue = 3
    todo?.done.toggle()
    todo?.description = "x"
    todos?.append(Todo(description: "new"))
    todos?[0].done = true
    flavor = .vanilla
    nickname = "x"
    nickname = .some(nil)
    asBinding?.wrappedValue += 1
    if let asBinding { child(asBinding) }
    if let value = Binding($myBinding) { child(value) }
  }

  private func child(_ value: Binding<Int>) { value.wrappedValue -= 1 }
  func run() { save?() }
  @MainActor func remove() { delete?() }
  func later() async throws { try await sync?() }
}

/// The enum behind a slider.
enum Size {
  case small
  case medium
  case large
}

struct SizeView {
  @State private var size: Size = .small

  var slider: Binding<Double> {
    Binding(
      get: {
        switch size {
        case .small: 0.15
        case .medium: 0.5
        case .large: 0.85
        }
      },
      set: { newValue in
        switch newValue {
        case 0..<0.25: size = .small
        case 0.25..<0.75: size = .medium
        default: size = .large
        }
      })
  }
}

struct PlayButton {
  @Binding var isPlaying: Bool
  func toggle() { isPlaying.toggle() }
}

struct PlayerView {
  @State private var isPlaying: Bool = false
  var body: PlayButton { PlayButton(isPlaying: $isPlaying) }
  var constant: PlayButton { PlayButton(isPlaying: .constant(true)) }
}

struct LockView {
  @Binding var lockState: Bool
  @State private var presses: Int

  init(lockState: Binding<Bool>, presses: Int) {
    self._lockState = lockState
    self._presses = State(initialValue: presses)
  }
}

struct OuterLock {
  @Binding var lockState: Bool
  var body: LockView { LockView(lockState: $lockState, presses: 1) }
}
