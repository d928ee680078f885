# frozen_string_literal: true

require "test_helper"

class ProfilesControllerTest < ActionDispatch::IntegrationTest
  test "the name is changed" do
    sign_in users(:kim)
    patch profile_path, params: { user: { name: "Kim Doe" } }
    assert_redirected_to edit_profile_path
    assert_equal "Kim Doe", users(:kim).reload.name
  end
end
