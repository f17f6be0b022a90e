import FocusKit

enum Field: Hashable { case username, password }
struct LoginForm {
  @State private var username = ""
  @State private var password = ""
  @FocusState private var focusedField: Field?
  @FocusState private var isFocused: Bool
  @State var number = 1
  @State var todo = Todo(description: "x")
  @State var name: String? = nil
  @State var model = Model()

  @MainActor func body() -> [FocusField] {
    let window = FocusField("window").focusedSceneValue(\.note, "scene").register()
    let a = FocusField("username", parent: window)
      .focusedValue(\.myIntDataBinding, $number)
      .focusedValue(\.note, username)
      .focusedValue(\.selectedTodo, $todo)
      .focusedValue(\.nickname, $name)
      .focusedValue(\.save) { print("saved") }
      .focusedValue(\.delete, { print("deleted") })
      .focusedValue(\.sync, { try await Task.sleep(for: .seconds(0)) })
      .focused($focusedField, equals: .username)
      .register()
    let b = FocusField("password", parent: window)
      .focusedSceneValue(\.myIntDataBinding, $number)
      .focusedSceneValue(\.save, nil)
      .focusedValue(\.note, nil)
      .focused($focusedField, equals: .password)
      .focused($isFocused)
      .register()
    focusedField = .username
    focusedField = nil
    isFocused = true
    if focusedField == .password { isFocused = false }
    return [window, a, b]
  }
  func child() -> Child { Child(focus: $focusedField, flag: $isFocused) }
}
struct Child {
  var focus: FocusState<Field?>.Binding
  @FocusState.Binding var flag: Bool
  init(focus: FocusState<Field?>.Binding, flag: FocusState<Bool>.Binding) {
    self.focus = focus
    self._flag = flag
  }
  func use() {
    focus.wrappedValue = .username
    flag = true
  }
}
