# frozen_string_literal: true

# People edit their own profile.
class ProfilesController < ApplicationController
  before_action :authenticate_user!

  def edit
    @user = current_user
    @time_zones = ActiveSupport::TimeZone.all.map(&:name)
  end

  def update
    @user = current_user
    if @user.update(profile_params)
      redirect_to edit_profile_path, notice: t(".saved")
    else
      @time_zones = ActiveSupport::TimeZone.all.map(&:name)
      render :edit, status: :unprocessable_entity
    end
  end

  private

  def profile_params
    params.require(:user).permit!
  end
end
