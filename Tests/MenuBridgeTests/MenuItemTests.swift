import DBusTypes
import MenuBridge
import Testing

@Suite struct MenuItemTests {
  @Test(arguments: [(nil, -1), (false, 0), (true, 1)] as [(Bool?, Int32)])
  func anItemHasItsTypeAndCheck(isChecked: Bool?, number: Int32) {
    let item = MenuItem(id: "win.wrap", menus: ["View"], label: "Wrap", accelerator: "F6", isChecked: isChecked)
    #expect(item.value.type.description == "(sasssbi)")
    guard case .structure(let members) = item.value else { return #expect(Bool(false)) }
    #expect(members.last == .int32(number))
  }
}
